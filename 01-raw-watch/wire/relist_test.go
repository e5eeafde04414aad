// If the server no longer has the history that the Reflector needs (410 Gone), the Reflector lists
// again and reports the difference. The server may send the 410 as a status code or as an event.

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
	type pods = []metav1.PartialObjectMetadata
	for sentence, test := range map[string]struct {
		before     pods
		watch      http.HandlerFunc
		after      pods
		wantEvents []string // after the events for the objects in before
	}{
		"nothing has changed (the 410 is a status code)": {
			before: pods{pod("a", 1), pod("b", 2)},
			watch:  fail(expired),
			after:  pods{pod("a", 1), pod("b", 2)},
		},
		"one object was added and one has changed (the 410 is a status code without a Status)": {
			before:     pods{pod("a", 1), pod("b", 2)},
			watch:      respond(http.StatusGone, ""),
			after:      pods{pod("a", 1), pod("b", 30), pod("c", 31)},
			wantEvents: []string{"MODIFIED b at 30", "ADDED c at 31"},
		},
		"a missing object was deleted, and is reported with its last known state (the 410 is an event)": {
			before:     pods{pod("a", 1), pod("b", 2)},
			watch:      stream(failed(expired)),
			after:      pods{pod("b", 2)},
			wantEvents: []string{"DELETED a at 1"},
		},
		"an object that was deleted and created again is two objects (the 410 is an event after a bookmark)": {
			before:     pods{pod("a", 1)},
			watch:      stream(bookmark(15), failed(expired)),
			after:      pods{anotherPod("a", 30)},
			wantEvents: []string{"DELETED a at 1", "ADDED a at 30"},
		},
		"the known objects don't only come from lists: the watch adds and removes some": {
			before:     pods{pod("listed", 1), pod("soon deleted", 2)},
			watch:      stream(added(pod("streamed", 11)), deleted(pod("soon deleted", 12)), failed(expired)),
			after:      pods{pod("listed", 1)},
			wantEvents: []string{"ADDED streamed at 11", "DELETED soon deleted at 12", "DELETED streamed at 11"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, list(10, test.before...), test.watch, list(90, test.after...))

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
