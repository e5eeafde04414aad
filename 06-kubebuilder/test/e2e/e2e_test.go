//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"example.com/operators/06-kubebuilder/test/utils"
)

// The first test: the others need what it waits for.
func TestTheManagerBecomesReady(t *testing.T) {
	// The certificate comes with the kubelet's next look at the Secret: that may take a minute or two.
	kubectl(t, "rollout", "status", "-n", operator, manager, "--timeout=5m")
	if got := kubectl(t, "get", "-n", operator, manager, "-o", "jsonpath={.status.readyReplicas}"); got != "2" {
		t.Errorf("%s copies are ready, want 2", got)
	}
}

func TestAFooBecomesReady(t *testing.T) {
	namespace := aNamespace(t)
	kubectl(t, "apply", "-n", namespace, "-k", "config/samples")
	kubectl(t, "wait", "-n", namespace, "foo/example-foo", "--for=condition=Ready", "--timeout=3m")
	if got := kubectl(t, "get", "-n", namespace, "deployment/example-foo", "-o", "jsonpath={.status.availableReplicas}"); got != "1" {
		t.Errorf("its Deployment has %s replicas, want 1", got)
	}
}

func TestTheWebhooks(t *testing.T) {
	namespace := aNamespace(t)

	kubectl(t, "create", "-n", namespace, "deployment", "taken", "--image=nginx")
	said := apply(t, namespace, "first", "deploymentName: taken")
	if want := `Warning: Deployment "taken" exists and isn't this Foo's`; !strings.Contains(said, want) {
		t.Errorf("kubectl said\n%s\nwant %q", said, want)
	}

	apply(t, namespace, "unnamed", "replicas: 1")
	if got := kubectl(t, "get", "-n", namespace, "foo/unnamed", "-o", "jsonpath={.spec.deploymentName}"); got != "unnamed" {
		t.Errorf("a Foo that names no Deployment got the name %q, want its own", got)
	}

	said, err := utils.RunWith(foo("second", "deploymentName: unnamed"), "kubectl", "apply", "-n", namespace, "-f", "-")
	if want := `Foo "unnamed" asks for it already: choose another name, or delete that Foo`; err == nil || !strings.Contains(said, want) {
		t.Errorf("kubectl said\n%s\nwant a refusal that says %q", said, want)
	}
	// +kubebuilder:scaffold:e2e-webhooks-checks
}

// Metrics are for those who may read them. The NetworkPolicy lets nobody in but Pods of labelled namespaces, so a Pod asks: a proxy
// through the API server would come without a token of its own.
func TestTheMetrics(t *testing.T) {
	namespace := aNamespace(t)
	kubectl(t, "label", "namespace", namespace, "metrics=enabled")
	kubectl(t, "create", "serviceaccount", "-n", namespace, "reader")
	binding := namespace + "-metrics"
	kubectl(t, "create", "clusterrolebinding", binding, "--clusterrole=foo-operator-metrics-reader", "--serviceaccount="+namespace+":reader")
	t.Cleanup(func() { kubectl(t, "delete", "clusterrolebinding", binding) })
	token := strings.TrimSpace(kubectl(t, "create", "token", "-n", namespace, "reader"))

	const url = "https://foo-operator-controller-manager-metrics-service.foo-operator-system.svc:8443/metrics"
	kubectl(t, "run", "-n", namespace, "curl", "--restart=Never", "--image=curlimages/curl:8.10.1", "--",
		"curl", "--silent", "--show-error", "--insecure", "--fail", "--retry", "10", "--retry-all-errors", "--header", "Authorization: Bearer "+token, url)
	kubectl(t, "wait", "-n", namespace, "pod/curl", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=3m")
	if got, want := kubectl(t, "logs", "-n", namespace, "curl"), "controller_runtime_reconcile_total"; !strings.Contains(got, want) {
		t.Errorf("the metrics have no %s:\n%s", want, got)
	}
}

// kubectl runs kubectl and returns what it said. The test ends here if it fails.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	output, err := utils.Run("kubectl", args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// apply applies a Foo, and returns what kubectl said.
func apply(t *testing.T, namespace, name, spec string) string {
	t.Helper()
	output, err := utils.RunWith(foo(name, spec), "kubectl", "apply", "-n", namespace, "-f", "-")
	if err != nil {
		t.Fatal(err)
	}
	return output
}

func foo(name, spec string) string {
	return fmt.Sprintf("apiVersion: samplecontroller.k8s.io/v1alpha1\nkind: Foo\nmetadata: {name: %s}\nspec: {%s}\n", name, spec)
}

// aNamespace returns one of the test's own.
func aNamespace(t *testing.T) string {
	t.Helper()
	namespace := "e2e-" + strings.ToLower(strings.TrimPrefix(t.Name(), "Test"))
	kubectl(t, "create", "namespace", namespace)
	t.Cleanup(func() {
		if t.Failed() {
			dump(namespace)
		}
		kubectl(t, "delete", "namespace", namespace)
	})
	return namespace
}
