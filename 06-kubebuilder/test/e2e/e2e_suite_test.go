//go:build e2e

// Package e2e tests the operator as it is shipped, on a kind cluster: the tests build and load the
// image and apply the content of dist/install.yaml, a kubelet runs the manager, and the API server
// calls its webhooks through their Service. This needs docker and kubectl. `make test-e2e` creates
// the cluster, and sets these environment variables:
//
//   - KIND_CLUSTER and KUBECONFIG: the name of the cluster, and the path of its kubeconfig. At the
//     end, the tests delete the operator, its CRD, and so every Foo. That is why they refuse a
//     cluster that has the CRD already.
//   - IMG: the image to build and deploy. DOCKER_BUILD: the target that builds it, docker-build, or
//     docker-prebuilt if you can't pull the golang image.
//   - KIND: the command that runs kind.
//
// If the cluster has no cert-manager, the tests install it. Its images are pulled, and nginx.
package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/06-kubebuilder/test/utils"
)

const (
	operator    = "foo-operator-system" // the operator's namespace
	crd         = "foos.samplecontroller.k8s.io"
	manager     = "deployment/foo-operator-controller-manager"
	certManager = "https://github.com/cert-manager/cert-manager/releases/download/v1.21.1/cert-manager.yaml"
)

const standIn = "stand-in:e2e"

// images are those of Pods that the tests create, and their programs. A tag other than latest isn't
// pulled if the node has it.
var images = map[string]string{standIn: "./test/e2e/stand-in"}

// image is the operator's.
func image() string { return cmp.Or(os.Getenv("IMG"), "foo-operator:dev") }

// TestMain deploys the operator, runs the tests, and deletes it again.
func TestMain(m *testing.M) {
	if err := isSafe(); err != nil {
		fmt.Fprintln(os.Stderr, "the end-to-end tests can't run here:", err)
		os.Exit(1)
	}
	code := 1
	if err := deploy(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	if code != 0 {
		dump(operator)
	}
	if err := do("make", "undeploy"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// deploy deploys the operator, and returns when it is ready.
func deploy() error {
	for _, step := range []func() error{loadImages, installCertManager, func() error { return do("make", "deploy", "IMG="+image()) }, untilReady} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// isSafe refuses a cluster that isn't KIND_CLUSTER, or that has the CRD, because make undeploy, at
// the end, would delete objects that the tests didn't create.
func isSafe() error {
	if os.Getenv("KIND_CLUSTER") == "" || os.Getenv("KUBECONFIG") == "" {
		return errors.New("KIND_CLUSTER or KUBECONFIG isn't set: run make test-e2e")
	}
	context, err := utils.Exec("kubectl", "config", "current-context")
	if want := "kind-" + os.Getenv("KIND_CLUSTER"); err != nil || strings.TrimSpace(context) != want {
		return fmt.Errorf("KUBECONFIG's current context is %s, want %s (%v)", context, want, err)
	}
	found, err := utils.Exec("kubectl", "get", "crd", crd, "--ignore-not-found", "-o", "name")
	if err == nil && strings.Contains(found, crd) { // the output may also have warnings
		err = errors.New("the CRD " + crd + " exists already: run make undeploy, or make cleanup-test-e2e if it is the tests' own cluster")
	}
	return err
}

// loadImages builds the images and loads them into the cluster's nodes.
func loadImages() error {
	if err := do("make", cmp.Or(os.Getenv("DOCKER_BUILD"), "docker-build"), "IMG="+image()); err != nil {
		return err
	}
	for tag, source := range images {
		program := filepath.Join("bin", "e2e", filepath.Base(source))
		if err := do("env", "CGO_ENABLED=0", "GOOS=linux", "go", "build", "-o", program, source); err != nil {
			return err
		}
		if err := do("docker", "build", "-t", tag, "-f", source+"/Dockerfile", filepath.Dir(program)); err != nil {
			return err
		}
	}
	load := append(strings.Fields(cmp.Or(os.Getenv("KIND"), "kind")), "load", "docker-image", "--name", os.Getenv("KIND_CLUSTER"), image())
	load = slices.AppendSeq(load, maps.Keys(images))
	return do(load[0], load[1:]...)
}

// installCertManager installs cert-manager, which makes the webhooks' certificate, if the cluster
// has none.
func installCertManager() error {
	const crd = "certificates.cert-manager.io"
	found, err := utils.Exec("kubectl", "get", "crd", crd, "--ignore-not-found", "-o", "name")
	if err != nil || strings.Contains(found, crd) {
		return err
	}
	return errors.Join(
		do("kubectl", "apply", "-f", certManager),
		do("kubectl", "wait", "-n", "cert-manager", "deployment", "--all", "--for=condition=Available", "--timeout=5m"),
		// cert-manager has a webhook, too, and the API server has to trust it.
		do("kubectl", "wait", "validatingwebhookconfiguration/cert-manager-webhook", "--for=jsonpath={.webhooks[0].clientConfig.caBundle}", "--timeout=5m"),
	)
}

// untilReady waits for every replica. If a Pod is created before its certificate's Secret, the
// kubelet may take two minutes to notice the Secret.
func untilReady() error {
	return do("kubectl", "rollout", "status", "-n", operator, manager, "--timeout=5m")
}

// do runs a long command, and prints it first.
func do(name string, args ...string) error {
	fmt.Fprintln(os.Stderr, "e2e:", name, args)
	_, err := utils.Exec(name, args...)
	return err
}
