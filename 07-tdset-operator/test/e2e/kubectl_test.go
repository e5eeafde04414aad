//go:build e2e

// Helpers that use the cluster through kubectl.

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/07-tdset-operator/test/utils"
)

// kubectl runs kubectl and returns its output. If kubectl fails, so does the test.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	output, err := utils.Exec("kubectl", args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// apply applies a TDSet, and returns kubectl's output.
func apply(t *testing.T, namespace, name, spec string) string {
	t.Helper()
	output, err := tryApply(namespace, name, spec)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// tryApply is apply for a TDSet that may be refused. flags are kubectl's.
func tryApply(namespace, name, spec string, flags ...string) (string, error) {
	tdset := fmt.Sprintf("apiVersion: schedule.rs/v2\nkind: TDSet\nmetadata: {name: %s}\nspec: {%s}\n", name, spec)
	return utils.RunWith(tdset, "kubectl", append([]string{"apply", "-n", namespace, "-f", "-"}, flags...)...)
}

// always asks for that number of Pods all day, so that the time of the test doesn't matter.
func always(image string, replicas int) string {
	return fmt.Sprintf("container: {image: %q, port: 80}, windows: [{name: always, start: \"00:00\", end: \"24:00\", replicas: %d}]", image, replicas)
}

// aNamespace returns a new namespace for the test.
func aNamespace(t *testing.T) string {
	t.Helper()
	namespace := "e2e-" + strings.NewReplacer("test", "", "/", "-", "_", "-").Replace(strings.ToLower(t.Name()))
	kubectl(t, "create", "namespace", namespace)
	t.Cleanup(func() {
		if t.Failed() {
			dump(namespace)
		}
		kubectl(t, "delete", "namespace", namespace, "--timeout=3m")
	})
	return namespace
}

// pods returns the names of the Pods that have a label.
func pods(t *testing.T, namespace, label string) []string {
	t.Helper()
	return strings.Fields(kubectl(t, "get", "pods", "-n", namespace, "-l", label, "-o", "jsonpath={.items[*].metadata.name}"))
}

// askPod returns a Pod's answer to a request through the API server's proxy.
func askPod(namespace, pod, path string) (string, error) {
	return utils.Exec("kubectl", "get", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:80/proxy%s", namespace, pod, path))
}

// askFromPod runs a Pod that sends a request, with the stand-in's flags and the URL in args. It
// returns the status and body of the answer.
func askFromPod(t *testing.T, namespace, pod, account string, args ...string) string {
	t.Helper()
	kubectl(t, append([]string{"run", pod, "-n", namespace, "--image=" + standIn, "--restart=Never",
		"--overrides", fmt.Sprintf(`{"spec": {"serviceAccountName": %q}}`, account), "--", "get"}, args...)...)
	kubectl(t, "wait", "-n", namespace, "pod/"+pod, "--for=jsonpath={.status.phase}=Succeeded", "--timeout=4m")
	return kubectl(t, "logs", "-n", namespace, pod)
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Second/2, 3*time.Minute, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("still not true after three minutes: %s", what)
	}
}

// dump prints everything that helps after a failure.
func dump(namespace string) {
	for _, args := range [][]string{
		{"describe", "pods", "-n", namespace},
		{"logs", "-n", operator, manager, "--all-pods", "--prefix", "--tail=200"},
		{"get", "events", "-n", namespace, "--sort-by=.lastTimestamp"},
		{"get", "tdsets,deployments,pods", "-A", "-o", "wide"},
		{"describe", "tdsets", "-A"},
		{"get", "validatingwebhookconfigurations", "-o", "yaml"},
	} {
		output, err := utils.Exec("kubectl", args...)
		fmt.Fprintf(os.Stderr, "\n--- kubectl %s\n%s", strings.Join(args, " "), output)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}
