// What a Reflector does when the server no longer has the history that it needs (410 Gone): it
// lists again and reports the difference. The server says so in two ways, and each case is played
// with both.

package wire

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRelist(t *testing.T) {
	ways := map[string]http.HandlerFunc{
		"status code":                   fail(expired),
		"status code, the older reason": fail(gone),
		"status code, and no reason":    say(http.StatusGone, ""),
		"event in the stream":           stream(failed(expired)),
		"event after a bookmark":        stream(bookmark(15), failed(expired)),
	}
	for name, test := range map[string]struct {
		before     []metav1.PartialObjectMetadata
		after      []metav1.PartialObjectMetadata
		wantEvents []string // after those for the objects that were there before
	}{
		"nothing has changed": {
			before: []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 2)},
			after:  []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 2)},
		},
		"one was added, one changed": {
			before:     []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 2)},
			after:      []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 30), pod("c", 31)},
			wantEvents: []string{"MODIFIED b at 30", "ADDED c at 31"},
		},
		"one is missing: it was deleted, and is reported as it was last seen": {
			before:     []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 2)},
			after:      []metav1.PartialObjectMetadata{pod("b", 2)},
			wantEvents: []string{"DELETED a at 1"},
		},
		"one was deleted and made again under its name: that is not a change, but two objects": {
			before:     []metav1.PartialObjectMetadata{pod("a", 1)},
			after:      []metav1.PartialObjectMetadata{anotherPod("a", 30)},
			wantEvents: []string{"DELETED a at 1", "ADDED a at 30"},
		},
		"all are gone": {
			before:     []metav1.PartialObjectMetadata{pod("a", 1)},
			wantEvents: []string{"DELETED a at 1"},
		},
	} {
		for way, historyIsGone := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := play(t, list(10, test.before...), historyIsGone, list(90, test.after...))

					events := server.follow(t, NewReflector(server.client, "/api/v1/pods"))

					wantRequests := []string{"list limit=500", "watch from 10", "list limit=500", "watch from 90"}
					if diff := cmp.Diff(wantRequests, server.requested()); diff != "" {
						t.Errorf("requests (-want +got):\n%s", diff)
					}
					if diff := cmp.Diff(test.wantEvents, events[len(test.before):], cmpopts.EquateEmpty()); diff != "" {
						t.Errorf("events (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// What is known doesn't only come from lists: a watch adds to it and takes from it.
func TestRelistKnowsWhatTheWatchReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := play(t,
			list(10, pod("listed", 1), pod("soon deleted", 2)),
			stream(added(pod("streamed", 11)), deleted(pod("soon deleted", 12)), failed(expired)),
			list(90, pod("listed", 1)))

		events := server.follow(t, NewReflector(server.client, "/api/v1/pods"))

		want := []string{
			"ADDED listed at 1", "ADDED soon deleted at 2",
			"ADDED streamed at 11", "DELETED soon deleted at 12",
			"DELETED streamed at 11",
		}
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
