package lens

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// zap logs a line as chapters 05 to 07 do.
func (s *story) zap(message, values string) {
	s.logged("03", fmt.Sprintf("%s\tDEBUG\t%s\t{%q: \"web\", \"namespace\": \"default\"%s}", s.later().UTC().Format(time.RFC3339Nano), message, "name", values))
}

// queue are the items of the queue, each with how long it lasted in milliseconds.
func (s *story) queue() (items []string) {
	for _, item := range s.recorder.All() {
		if item.Lane == Queue {
			items = append(items, fmt.Sprintf("%s: %.0f ms", item.Label, item.Until-item.At))
		}
	}
	return items
}

// controller-runtime's queue is inferred from events, failures, and pauses that were asked for.
func TestTheQueueIsInferred(t *testing.T) {
	s := newStory(t)
	s.object("Foo", "web", "11", "")
	s.event("foos", "web", "11")
	s.object("Deployment", "web", "12", "web")
	s.event("deployments", "web", "12")
	s.zap("Reconciling", "")
	s.zap("Reconciler error", `, "error": "the server is down"`)
	s.zap("Reconciling", "")
	s.zap("Reconcile done, requeueing after 30s", "")
	s.object("Foo", "web", "13", "")
	s.event("foos", "web", "13")
	s.zap("Reconciling", "")
	s.zap("Reconcile successful", "")

	wantQueue := []string{
		"default/web: 2 ms",            // since the first of two events
		"default/web, failure 1: 1 ms", // until it was tried again
		"default/web: 1 ms",
		"default/web, after 30s: 2 ms", // an event came first
	}
	if difference := cmp.Diff(wantQueue, s.queue()); difference != "" {
		t.Error(difference)
	}
	var causes []string
	for _, link := range s.links() {
		if link[:5] == "work:" || link[:6] == "queue:" {
			causes = append(causes, link)
		}
	}
	wantCauses := []string{
		"queue: default/web <- events: MODIFIED foos default/web",
		"queue: default/web <- events: MODIFIED deployments default/web",
		"work: default/web <- queue: default/web",
		"queue: default/web, failure 1 <- work: default/web",
		"work: default/web <- queue: default/web, failure 1",
		"queue: default/web <- events: MODIFIED foos default/web",
		"queue: default/web, after 30s <- work: default/web",
		"work: default/web <- queue: default/web",
	}
	if difference := cmp.Diff(wantCauses, causes); difference != "" {
		t.Error(difference)
	}
}
