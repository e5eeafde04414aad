//go:build kind

package program

// Every chapter that can be deployed, chapter 07's chart, and chapter 02's imageswap as its page
// more/image-swapper.md installs it, on a real kind cluster.

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// onKind returns a deployment on the tests' cluster, of no program yet.
func onKind(t *testing.T) Deployment {
	t.Helper()
	root, err := filepath.Abs(testkit.Repository())
	must(t, err)
	return Deployment{
		Root: root, Out: t.Output(), UI: ui.New(os.Stderr),
		Cluster: kind.New(root, os.Getenv("TEST_CLUSTER")),
		Kubectl: cluster.Kubectl{Binary: os.Getenv("TEST_KUBECTL"), Kubeconfig: os.Getenv("TEST_KUBECONFIG")},
	}
}

// run runs a command that uses the tests' cluster.
func (d Deployment) run(t *testing.T, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Env = append(os.Environ(), d.Kubectl.Environment()...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, output)
	}
}

// get runs kubectl, and returns its output.
func (d Deployment) get(t *testing.T, args ...string) string {
	t.Helper()
	output, err := d.Kubectl.Run(t.Context(), args...)
	must(t, err)
	return output
}

func (d Deployment) buildHelm(t *testing.T) (helm string) {
	t.Helper()
	helm, err := gobuild.Tool(t.Context(), d.Root, "helm.sh/helm/v4/cmd/helm", nil)
	must(t, err)
	return helm
}

func TestDeploy(t *testing.T) {
	d := onKind(t)
	all, err := chapters.Find(d.Root, strings.Split(os.Getenv("TEST_CHAPTERS"), ",")...)
	must(t, err)
	for _, chapter := range all {
		if d.Program, err = Deployable(chapter); err != nil {
			continue
		}
		t.Run(chapter.Name, func(t *testing.T) {
			t.Cleanup(func() { // otherwise it would act on the objects of all tests that follow
				if t.Failed() {
					_ = d.Remove(context.WithoutCancel(t.Context()))
				}
			})
			must(t, d.Install(t.Context()))
			d.works(t)
			must(t, d.Remove(t.Context()))
			d.isGone(t)
		})
	}
}

func TestChapter07ByHelm(t *testing.T) {
	d := onKind(t)
	found, err := chapters.Find(d.Root, "07")
	must(t, err)
	d.Program, err = OfChapter(found[0])
	must(t, err)
	must(t, d.BuildImage(t.Context(), d.image()))
	settings := []string{"-C", d.chapter.Dir, "KUBECTL=kubectl", "HELM=" + d.buildHelm(t)}
	d.run(t, "make", append(settings, "helm-install")...)
	d.get(t, "rollout", "status", "--namespace", d.Namespace, "deployment/"+d.ServiceAccount, "--timeout=3m")
	must(t, d.webhooksAnswer(t.Context()))
	d.works(t)
	d.run(t, "make", append(settings, "helm-uninstall")...)
	d.get(t, "delete", "namespace", d.Namespace)
	d.isGone(t)
}

// works checks that a program does its work, with two replicas and as few permissions as possible.
func (d Deployment) works(t *testing.T) {
	t.Helper()
	for _, example := range d.Examples {
		d.get(t, "apply", "-f", example)
	}
	example := []string{"foo/example-foo"}
	if d.Kind == chapters.TDSet {
		example = []string{"--namespace=temp", "tdset/tdset-hello-world"}
	}
	d.get(t, append([]string{"wait", "--timeout=2m", "--for=condition=Ready"}, example...)...)

	inNamespace := func(what, path string) string {
		return d.get(t, "get", what, "--namespace", d.Namespace, "--output", "jsonpath={.items[*]"+path+"}")
	}
	if got := inNamespace("deployments", ".status.readyReplicas"); got != "2" {
		t.Errorf("%s replicas are ready, want 2", got)
	}
	for _, account := range strings.Fields(inNamespace("pods", ".spec.serviceAccountName")) {
		if account != d.ServiceAccount {
			t.Errorf("a Pod runs as %s, want %s", account, d.ServiceAccount)
		}
	}
	_, err := d.Kubectl.Run(t.Context(), "run", "--namespace", d.Namespace, "root", "--image=nginx", "--dry-run=server")
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted`) {
		t.Errorf("a Pod that violates PodSecurity: got error %v", err)
	}
	if strings.TrimSpace(inNamespace("leases", ".spec.holderIdentity")) == "" {
		t.Error("no replica is the leader")
	}
}

func (d Deployment) isGone(t *testing.T) {
	t.Helper()
	for _, left := range strings.Fields(d.get(t, "get", "crd,namespaces", "--output", "name")) {
		if strings.Contains(left, "/foos.") || strings.Contains(left, "/tdsets.") || left == "namespace/"+d.Namespace {
			t.Errorf("%s is left", left)
		}
	}
}

func TestTheSwapperInACluster(t *testing.T) {
	const image, home, shop = "imageswap:02", "imageswap-system", "shop"
	chapter := projectDir("02-informers")
	d, dir := onKind(t), t.TempDir()
	must(t, kind.BuildStatic(t.Context(), chapter, filepath.Join(dir, "bin", "imageswap"), nil, "./imageswap"))
	must(t, kind.BuildImage(t.Context(), dir, image, "--file", filepath.Join(chapter, "imageswap", "Dockerfile")))
	must(t, d.Cluster.Load(t.Context(), image))
	t.Cleanup(func() {
		_, err := d.Kubectl.Run(context.Background(), "delete", "namespace", home, shop, "--ignore-not-found")
		must(t, err)
	})
	d.get(t, "create", "namespace", shop)
	d.get(t, "create", "namespace", home)
	d.get(t, "label", "namespace", home, "pod-security.kubernetes.io/enforce=restricted")
	d.run(t, d.buildHelm(t), "install", "imageswap", filepath.Join(chapter, "imageswap", "chart"),
		"--namespace", home, "--set", "namespace="+shop, "--wait", "--timeout", "3m")

	d.get(t, "create", "deployment", "web", "--namespace", shop, "--image=nginx:latest")
	d.get(t, "create", "configmap", "imageswap", "--namespace", shop, "--from-literal=image=crccheck/hello-world:latest")
	d.get(t, "wait", "--namespace", shop, "deployment/web", "--timeout=1m",
		"--for=jsonpath={.spec.template.spec.containers[0].image}=crccheck/hello-world:latest")
	d.get(t, "rollout", "status", "--namespace", shop, "deployment/web", "--timeout=2m")
}
