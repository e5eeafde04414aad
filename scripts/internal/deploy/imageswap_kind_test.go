//go:build kind

package deploy

// Chapter 02's imageswap as its page more/image-swapper.md installs it, on a real kind cluster.

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/testkit"
)

func TestTheSwapperInACluster(t *testing.T) {
	const image, home, shop = "imageswap:02", "imageswap-system", "shop"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := filepath.Abs(testkit.Repository())
	must(err)
	d := Deployment{
		Root:    root,
		Cluster: kind.New(root, os.Getenv("TEST_CLUSTER")),
		Kubectl: kubectl.Kubectl{Binary: os.Getenv("TEST_KUBECTL"), Kubeconfig: os.Getenv("TEST_KUBECONFIG")},
		Out:     t.Output(),
	}
	dir := t.TempDir()
	must(kind.BuildStatic(t.Context(), chapter02(), filepath.Join(dir, "bin", "imageswap"), nil, "./imageswap"))
	must(kind.BuildImage(t.Context(), dir, image, "--file", filepath.Join(chapter02(), "imageswap", "Dockerfile")))
	must(d.Cluster.Load(t.Context(), image))
	helm, err := d.buildHelm(t.Context())
	must(err)
	t.Cleanup(func() {
		must(d.kubectl(context.Background(), "delete", "namespace", home, shop, "--ignore-not-found"))
	})
	must(d.kubectl(t.Context(), "create", "namespace", shop))
	must(d.kubectl(t.Context(), "create", "namespace", home))
	must(d.kubectl(t.Context(), "label", "namespace", home, "pod-security.kubernetes.io/enforce=restricted"))

	install := exec.CommandContext(t.Context(), helm, "install", "imageswap", filepath.Join(chapter02(), "imageswap", "chart"),
		"--namespace", home, "--set", "namespace="+shop, "--wait", "--timeout", "3m")
	install.Env = append(os.Environ(), d.Kubectl.Environment()...)
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("helm install: %v\n%s", err, output)
	}
	must(d.kubectl(t.Context(), "create", "deployment", "web", "--namespace", shop, "--image=nginx:latest"))
	must(d.kubectl(t.Context(), "create", "configmap", "imageswap", "--namespace", shop, "--from-literal=image=crccheck/hello-world:latest"))

	err = d.kubectl(t.Context(), "wait", "--namespace", shop, "deployment/web", "--timeout=1m",
		"--for=jsonpath={.spec.template.spec.containers[0].image}=crccheck/hello-world:latest")
	if err != nil {
		logs, _ := d.Kubectl.Run(t.Context(), "logs", "--namespace", home, "deployment/imageswap")
		t.Fatalf("%v\nimageswap's log:\n%s", err, logs)
	}
	must(d.kubectl(t.Context(), "rollout", "status", "--namespace", shop, "deployment/web", "--timeout=2m"))
}
