//go:build e2e

package e2e

import "testing"

// A Foo's life: its Pods run and answer, it is scaled up, and when it is deleted, all of them go.
func TestAFoo(t *testing.T) {
	const ofFoo = "controller=example-foo"
	namespace := aNamespace(t)
	kubectl(t, "apply", "-n", namespace, "-k", "config/samples")

	kubectl(t, "wait", "-n", namespace, "foo/example-foo", "--for=condition=Ready", "--timeout=3m")
	if got := len(pods(t, namespace, ofFoo)); got != 1 {
		t.Errorf("the Foo has %d Pods, want 1", got)
	}

	kubectl(t, "scale", "-n", namespace, "foo/example-foo", "--replicas=2")
	kubectl(t, "wait", "-n", namespace, "foo/example-foo", "--for=jsonpath={.status.availableReplicas}=2", "--timeout=3m")
	names := pods(t, namespace, ofFoo)
	if len(names) != 2 {
		t.Errorf("the Pods are %q, want 2", names)
	}
	for _, pod := range names {
		if _, err := askPod(namespace, pod, "/"); err != nil {
			t.Errorf("the Pod %s doesn't answer: %v", pod, err)
		}
	}

	kubectl(t, "delete", "-n", namespace, "foo/example-foo")
	kubectl(t, "wait", "-n", namespace, "deployment/example-foo", "--for=delete", "--timeout=1m") // by the garbage collector
	eventually(t, "its Pods are gone", func() bool { return len(pods(t, namespace, ofFoo)) == 0 })
}
