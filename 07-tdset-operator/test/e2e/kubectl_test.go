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

func manifest(name, schedule string) string {
	return fmt.Sprintf("apiVersion: schedule.rs/v2\nkind: TDSet\nmetadata: {name: %s}\nspec: {container: {image: nginx, port: 80}, windows: %s}\n", name, schedule)
}

// tryApply applies a TDSet, and returns kubectl's output. flags are kubectl's.
func tryApply(namespace, name, schedule string, flags ...string) (string, error) {
	return utils.RunWith(manifest(name, schedule), "kubectl", append([]string{"apply", "-n", namespace, "-f", "-"}, flags...)...)
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

// pods returns the names of the manager's Pods.
func pods(t *testing.T) []string {
	t.Helper()
	return strings.Fields(kubectl(t, "get", "pods", "-n", operator, "-l", "control-plane=controller-manager", "-o", "jsonpath={.items[*].metadata.name}"))
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
		{"describe", "tdsets", "-A"},
	} {
		output, err := utils.Exec("kubectl", args...)
		fmt.Fprintf(os.Stderr, "\n--- kubectl %s\n%s", strings.Join(args, " "), output)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}
