//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"example.com/operators/07-tdset-operator/test/utils"
)

// The first test: the others need what it waits for.
func TestTheManagerBecomesReady(t *testing.T) {
	// The certificate comes with the kubelet's next look at the Secret: that may take a minute or two.
	kubectl(t, "rollout", "status", "-n", operator, manager, "--timeout=5m")
	if got := kubectl(t, "get", "-n", operator, manager, "-o", "jsonpath={.status.readyReplicas}"); got != "2" {
		t.Errorf("%s copies are ready, want 2", got)
	}
}

// A whole life: it becomes available, others reach it, and when it is deleted it goes last, after its Pods.
func TestATDSet(t *testing.T) {
	namespace := aNamespace(t)
	apply(t, namespace, "web", "container: {image: nginx, port: 80}, service: {port: 8080}, schedulingConfig: [{startTime: 0, endTime: 24, replica: 2}]")

	kubectl(t, "wait", "-n", namespace, "tdset/web", "--for=condition=Available", "--timeout=3m")
	if got := kubectl(t, "get", "-n", namespace, "deployment/web", "-o", "jsonpath={.status.availableReplicas}"); got != "2" {
		t.Errorf("its Deployment has %s replicas, want 2", got)
	}
	kubectl(t, "wait", "-n", namespace, "endpointslice", "-l", "kubernetes.io/service-name=web", "--for=jsonpath={.endpoints[1].conditions.ready}=true", "--timeout=1m")
	if got := kubectl(t, "get", "-n", namespace, "service/web", "-o", "jsonpath={.spec.ports[*].port}"); got != "8080" {
		t.Errorf("its Service listens at %s, want 8080", got)
	}

	kubectl(t, "delete", "-n", namespace, "tdset/web", "--timeout=3m") // returns when it is gone
	if got := kubectl(t, "get", "pods", "-n", namespace, "-o", "name"); got != "" {
		t.Errorf("it is gone, and these Pods of it aren't:\n%s", got)
	}
	kubectl(t, "wait", "-n", namespace, "deployment/web", "service/web", "--for=delete", "--timeout=1m") // by the garbage collector
}

// The seed's own example, as it is.
func TestTheSample(t *testing.T) {
	kubectl(t, "apply", "-k", "config/samples")
	t.Cleanup(func() { kubectl(t, "delete", "-k", "config/samples", "--timeout=3m") })

	// That its image is there is nobody's promise. That its Deployment has what the hour asks for is.
	kubectl(t, "wait", "-n", "temp", "tdset/tdset-hello-world", "--for=jsonpath={.status.desiredReplicas}", "--timeout=1m")
	want := kubectl(t, "get", "-n", "temp", "tdset/tdset-hello-world", "-o", "jsonpath={.status.desiredReplicas}")
	kubectl(t, "wait", "-n", "temp", "deployment/tdset-hello-world", "--for=jsonpath={.spec.replicas}="+want, "--timeout=1m")
}

func TestTheWebhook(t *testing.T) {
	namespace := aNamespace(t)

	said := apply(t, namespace, "gaps", "container: {image: nginx, port: 80}, schedulingConfig: [{startTime: 9, endTime: 17, replica: 2}]")
	if want := "Warning: spec.schedulingConfig: the hours 0 to 9 and 17 to 24 are in no window, and get defaultReplica, which is 1"; !strings.Contains(said, want) {
		t.Errorf("kubectl said\n%s\nwant %q", said, want)
	}

	// The CRD's rules say this, and would without the webhook.
	said, err := utils.RunWith(tdset("empty", "container: {image: nginx, port: 80}, schedulingConfig: [{startTime: 9, endTime: 9, replica: 2}]"),
		"kubectl", "apply", "-n", namespace, "-f", "-")
	if want := "startTime and endTime must differ: for the whole day, say 0 and 24"; err == nil || !strings.Contains(said, want) {
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
	kubectl(t, "create", "clusterrolebinding", binding, "--clusterrole=tdset-operator-metrics-reader", "--serviceaccount="+namespace+":reader")
	t.Cleanup(func() { kubectl(t, "delete", "clusterrolebinding", binding) })
	token := strings.TrimSpace(kubectl(t, "create", "token", "-n", namespace, "reader"))

	const url = "https://tdset-operator-controller-manager-metrics-service.tdset-operator-system.svc:8443/metrics"
	kubectl(t, "run", "-n", namespace, "curl", "--restart=Never", "--image=curlimages/curl:8.10.1", "--",
		"curl", "--silent", "--show-error", "--insecure", "--fail", "--retry", "10", "--retry-all-errors", "--header", "Authorization: Bearer "+token, url)
	kubectl(t, "wait", "-n", namespace, "pod/curl", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=3m")
	// Each copy has this one, whether it leads or not.
	if got, want := kubectl(t, "logs", "-n", namespace, "curl"), "tdset_transition_lag_seconds_count"; !strings.Contains(got, want) {
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

// apply applies a TDSet, and returns what kubectl said.
func apply(t *testing.T, namespace, name, spec string) string {
	t.Helper()
	output, err := utils.RunWith(tdset(name, spec), "kubectl", "apply", "-n", namespace, "-f", "-")
	if err != nil {
		t.Fatal(err)
	}
	return output
}

func tdset(name, spec string) string {
	return fmt.Sprintf("apiVersion: schedule.rs/v1\nkind: TDSet\nmetadata: {name: %s}\nspec: {%s}\n", name, spec)
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
