//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// Its Pods take as long to stop as this test wants: they work on, as Pods do that finish what they have begun. The TDSet waits for them.
func TestADeletedTDSetStaysUntilItsLastPodIsGone(t *testing.T) {
	const ofTDSet = "schedule.rs/tdset=web"
	namespace := aNamespace(t)
	apply(t, namespace, "web", always(lingering, 2))
	kubectl(t, "wait", "-n", namespace, "tdset/web", "--for=condition=Ready", "--timeout=3m")
	names := pods(t, namespace, ofTDSet)
	if len(names) != 2 {
		t.Fatalf("its Pods are %q, want 2", names)
	}

	kubectl(t, "delete", "-n", namespace, "tdset/web", "--wait=false")
	for _, pod := range names {
		eventually(t, pod+" is told to stop", func() bool {
			said, err := askPod(namespace, pod, "/")
			return err == nil && strings.Contains(said, "told to stop: true")
		})
	}

	for len(names) > 0 {
		if got := kubectl(t, "get", "-n", namespace, "tdset/web", "-o", "jsonpath={.metadata.finalizers}"); got != `["schedule.rs/drain"]` {
			t.Errorf("the TDSet's finalizers are %s, want it to be kept by schedule.rs/drain", got)
		}
		for _, pod := range names { // after the TDSet was looked at: so it was there while they worked
			if _, err := askPod(namespace, pod, "/"); err != nil {
				t.Errorf("the Pod %s has stopped before it was released: %v", pod, err)
			}
		}
		if _, err := askPod(namespace, names[0], "/release"); err != nil {
			t.Fatal(err)
		}
		kubectl(t, "wait", "-n", namespace, "pod/"+names[0], "--for=delete", "--timeout=1m")
		names = names[1:]
	}

	kubectl(t, "wait", "-n", namespace, "tdset/web", "--for=delete", "--timeout=1m")
	eventually(t, "an event says that it was drained", func() bool {
		said := kubectl(t, "get", "events", "-n", namespace, "--field-selector=involvedObject.kind=TDSet,involvedObject.name=web", "-o", "jsonpath={.items[*].reason}")
		return strings.Contains(said, "Drained")
	})
}
