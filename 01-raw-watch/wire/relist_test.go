// If the server no longer has the history that the Reflector needs (410 Gone), the Reflector lists
// again and reports the difference. The server may send the 410 as a status code or as an event,
// and each case is tested with all variants.

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
		"status code":                       fail(expired),
		"status code with the older reason": fail(gone),
		"status code without a reason":      respond(http.StatusGone, ""),
		"event in the stream":               stream(failed(expired)),
		"event after a bookmark":            stream(bookmark(15), failed(expired)),
	}
	for name, test := range map[string]struct {
		before     []metav1.PartialObjectMetadata
		after      []metav1.PartialObjectMetadata
		wantEvents []string // after the events for the objects in before
	}{
		"nothing has changed": {
			before: []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 2)},
			after:  []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 2)},
		},
		"one object was added and one has changed": {
			before:     []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 2)},
			after:      []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 30), pod("c", 31)},
			wantEvents: []string{"MODIFIED b at 30", "ADDED c at 31"},
		},
		"a missing object was deleted, and is reported with its last known state": {
			before:     []metav1.PartialObjectMetadata{pod("a", 1), pod("b", 2)},
			after:      []metav1.PartialObjectMetadata{pod("b", 2)},
			wantEvents: []string{"DELETED a at 1"},
		},
		"an object that was deleted and created again is reported as two objects, not as a change": {
			before:     []metav1.PartialObjectMetadata{pod("a", 1)},
			after:      []metav1.PartialObjectMetadata{anotherPod("a", 30)},
			wantEvents: []string{"DELETED a at 1", "ADDED a at 30"},
		},
		"all objects are gone": {
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

// The known objects don't only come from lists. A watch adds some and removes others.
func TestRelistAfterWatchEvents(t *testing.T) {
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
