//go:build e2e

// Package e2e tries the operator as it is shipped, on a kind cluster: the image is built and loaded, dist/install.yaml's content is
// applied, the kubelet runs the manager, and the API server calls its webhooks by their Service. It needs
//
//   - docker, and the programs kind and kubectl;
//   - a kind cluster that you have made for it: KIND_CLUSTER is its name, and KUBECONFIG the path of its kubeconfig. Both have to be
//     said, so that nobody's cluster is used by accident;
//   - IMG, the image to build and deploy (tdset-operator:dev by default). With IMG_IS_LOADED=1 the nodes have it already.
//
// For example:
//
//	kind create cluster --name tdset-operator-e2e --kubeconfig /tmp/e2e.kubeconfig
//	KIND_CLUSTER=tdset-operator-e2e KUBECONFIG=/tmp/e2e.kubeconfig make test-e2e
package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"example.com/operators/07-tdset-operator/test/utils"
)

const (
	operator = "tdset-operator-system" // the operator's namespace
	manager  = "deployment/tdset-operator-controller-manager"
)

// TestMain deploys the operator, runs the tests, and takes it away again.
func TestMain(m *testing.M) {
	if err := available(); err != nil {
		fmt.Fprintln(os.Stderr, "The end-to-end tests can't run here:", err)
		os.Exit(1)
	}
	if err := deploy(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		dump(operator)
		os.Exit(1)
	}
	code := m.Run()
	if code != 0 {
		dump(operator)
	}
	if _, err := utils.Run("make", "undeploy"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// available returns what is missing here, if anything is.
func available() error {
	for _, name := range []string{"docker", "kind", "kubectl"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("they need %s: %w", name, err)
		}
	}
	cluster := os.Getenv("KIND_CLUSTER")
	if cluster == "" || os.Getenv("KUBECONFIG") == "" {
		return fmt.Errorf("say which kind cluster to use: its name in KIND_CLUSTER, and the path of its kubeconfig in KUBECONFIG. kind create cluster makes one")
	}
	there, err := utils.Run("kubectl", "config", "current-context")
	if err != nil {
		return err
	}
	if context := strings.TrimSpace(there); context != "kind-"+cluster {
		return fmt.Errorf("KUBECONFIG's current context is %q, not that of KIND_CLUSTER, %q", context, "kind-"+cluster)
	}
	return nil
}

// deploy builds the image, brings it to the cluster's nodes, and deploys the operator with it.
func deploy() error {
	image := cmp.Or(os.Getenv("IMG"), "tdset-operator:dev")
	commands := [][]string{{"make", "deploy", "IMG=" + image}}
	if os.Getenv("IMG_IS_LOADED") == "" {
		commands = append([][]string{
			{"make", "docker-build", "IMG=" + image},
			{"kind", "load", "docker-image", image, "--name", os.Getenv("KIND_CLUSTER")},
		}, commands...)
	}
	for _, command := range commands {
		if _, err := utils.Run(command[0], command[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// dump prints what one wants to see after a failure.
func dump(namespace string) {
	for _, args := range [][]string{
		{"describe", "pods", "-n", namespace},
		{"logs", "-n", namespace, manager, "--all-pods", "--prefix", "--tail=200"},
		{"get", "events", "-n", namespace, "--sort-by=.lastTimestamp"},
		{"get", "tdsets,deployments,pods", "-A", "-o", "wide"},
		{"describe", "tdsets", "-A"},
		{"get", "validatingwebhookconfigurations", "-o", "yaml"},
	} {
		output, err := utils.Run("kubectl", args...)
		fmt.Fprintf(os.Stderr, "\n--- kubectl %s\n%s", strings.Join(args, " "), output)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}
