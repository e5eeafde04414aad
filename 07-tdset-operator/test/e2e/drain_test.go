//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// A deleted TDSet waits for its Pods. They take as long to stop as this test wants, like Pods that
// finish their open requests.
func TestADeletedTDSetStaysUntilItsLastPodIsGone(t *testing.T) {
	const ofTDSet = "schedule.rs/tdset=web"
	namespace := aNamespace(t)
	apply(t, namespace, "web", always(lingering, 2))
	kubectl(t, "wait", "-n", namespace, "tdset/web", "--for=condition=Ready", "--timeout=3m")
	names := pods(t, namespace, ofTDSet)
	if len(names) != 2 {
		t.Fatalf("the Pods are %q, want 2", names)
	}

	kubectl(t, "delete", "-n", namespace, "tdset/web", "--wait=false")
	for _, pod := range names {
		eventually(t, pod+" has got SIGTERM", func() bool {
			answer, err := askPod(namespace, pod, "/")
			return err == nil && strings.Contains(answer, "stopping=true")
		})
	}

	for len(names) > 0 {
		if got := kubectl(t, "get", "-n", namespace, "tdset/web", "-o", "jsonpath={.metadata.finalizers}"); got != `["schedule.rs/drain"]` {
			t.Errorf("the TDSet's finalizers are %s, want only schedule.rs/drain", got)
		}
		for _, pod := range names { // after the TDSet was read, so it existed while they ran
			if _, err := askPod(namespace, pod, "/"); err != nil {
				t.Errorf("the Pod %s stopped before it was released: %v", pod, err)
			}
		}
		if _, err := askPod(namespace, names[0], "/release"); err != nil {
			t.Fatal(err)
		}
		kubectl(t, "wait", "-n", namespace, "pod/"+names[0], "--for=delete", "--timeout=1m")
		names = names[1:]
	}

	kubectl(t, "wait", "-n", namespace, "tdset/web", "--for=delete", "--timeout=1m")
	eventually(t, "there is an event Drained", func() bool {
		reasons := kubectl(t, "get", "events", "-n", namespace, "--field-selector=involvedObject.kind=TDSet,involvedObject.name=web", "-o", "jsonpath={.items[*].reason}")
		return strings.Contains(reasons, "Drained")
	})
}
