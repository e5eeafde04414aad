// What a Reflector asks and what it reports: lists in pages, watches, and how it goes on after a
// watch's end. Every case is a script (what the server answers, in order), the requests that it
// should get, and the events that should come out.

package wire

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

func TestReflector(t *testing.T) {
	for name, test := range map[string]struct {
		server       []http.HandlerFunc
		wantRequests []string // the last one is not in the script: it shows how things go on
		wantEvents   []string
	}{
		"a list is read page by page, and the watch goes on from where the list was true": {
			server: []http.HandlerFunc{
				page(10, "p2", pod("a", 1), pod("b", 2)),
				page(10, "p3", pod("c", 3), pod("d", 4)),
				page(10, "", pod("e", 5)),
			},
			wantRequests: []string{"list limit=2", "list continue=p2&limit=2", "list continue=p3&limit=2", "watch from 10"},
			wantEvents:   []string{"ADDED a at 1", "ADDED b at 2", "ADDED c at 3", "ADDED d at 4", "ADDED e at 5"},
		},
		"an empty collection is watched all the same": {
			server:       []http.HandlerFunc{list(10)},
			wantRequests: []string{"list limit=2", "watch from 10"},
		},
		"a list whose next page comes too late is asked for again, in one piece": {
			server: []http.HandlerFunc{
				page(10, "p2", pod("a", 1), pod("b", 2)),
				fail(expired),
				list(90, pod("a", 1), pod("b", 80), pod("c", 81)),
			},
			wantRequests: []string{"list limit=2", "list continue=p2&limit=2", "list ", "watch from 90"},
			wantEvents:   []string{"ADDED a at 1", "ADDED b at 80", "ADDED c at 81"},
		},
		"a watch reports what happens, in order, and is resumed after its end": {
			server: []http.HandlerFunc{
				list(10, pod("a", 1)),
				stream(added(pod("b", 11)), modified(pod("a", 12)), deleted(pod("b", 13))),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 13"},
			wantEvents:   []string{"ADDED a at 1", "ADDED b at 11", "MODIFIED a at 12", "DELETED b at 13"},
		},
		"a watch that is cut in the middle of an object loses nothing and reports nothing twice": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), half(added(pod("b", 12))), cut),
				stream(added(pod("b", 12)), added(pod("c", 13)), cut),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 11", "watch from 13"},
			wantEvents:   []string{"ADDED a at 11", "ADDED b at 12", "ADDED c at 13"},
		},
		"an answer that ends in the middle of an object, and ends well by HTTP's measure, is no different": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), half(added(pod("b", 12)))),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 11"},
			wantEvents:   []string{"ADDED a at 11"},
		},
		"an object that comes in two chunks is one object": {
			server: []http.HandlerFunc{
				list(10),
				stream(half(added(pod("a", 11))), otherHalf(added(pod("a", 11)))),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 11"},
			wantEvents:   []string{"ADDED a at 11"},
		},
		"a bookmark is no event, and the next watch starts from it": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), bookmark(500)),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 500"},
			wantEvents:   []string{"ADDED a at 11"},
		},
		"an object of 1.5 MiB is one like the others": {
			server: []http.HandlerFunc{
				list(10, hugePod("a", 1)),
				stream(modified(hugePod("a", 11)), bookmark(12)),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 12"},
			wantEvents:   []string{"ADDED a at 1", "MODIFIED a at 11"},
		},
		"a failure told in the stream: the watch is resumed": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), failed(internalError)),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 11"},
			wantEvents:   []string{"ADDED a at 11"},
		},
		"an event of an unknown type is not passed over: the watch is resumed before it": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), event("SURPRISE", pod("b", 12)), added(pod("c", 13))),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 11"},
			wantEvents:   []string{"ADDED a at 11"},
		},
		"a proxy's page instead of a list, whatever its status code: the list is asked for again": {
			server: []http.HandlerFunc{
				say(http.StatusBadGateway, aProxysPage),
				say(http.StatusOK, aProxysPage),
				say(http.StatusOK, `{"hello": "world"}`),
				say(http.StatusOK, ""),
				list(10, pod("a", 1)),
			},
			wantRequests: []string{"list limit=2", "list limit=2", "list limit=2", "list limit=2", "list limit=2", "watch from 10"},
			wantEvents:   []string{"ADDED a at 1"},
		},
		"a proxy's page instead of a watch, or in the middle of one: the watch is resumed": {
			server: []http.HandlerFunc{
				list(10),
				say(http.StatusBadGateway, aProxysPage),
				say(http.StatusOK, aProxysPage),
				stream(added(pod("a", 11)), aProxysPage),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 10", "watch from 10", "watch from 11"},
			wantEvents:   []string{"ADDED a at 11"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, test.server...)
				reflector := NewReflector(server.client, "/api/v1/pods")
				reflector.PageSize = 2

				events := server.follow(t, reflector)

				if diff := cmp.Diff(test.wantRequests, server.requested()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.wantEvents, events); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// An event is a hint, and is kept until the object is gone: it is made as light as can be.
func TestEventsCarryNoManagedFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heavy := pod("a", 1)
		heavy.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		server := play(t, list(10, heavy))
		ctx, cancel := context.WithCancel(t.Context())
		events := make(chan Event)
		go NewReflector(server.client, "/api/v1/pods").Run(ctx, events)

		got := <-events
		cancel()

		if diff := cmp.Diff(Event{watch.Added, pod("a", 1)}, got); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	})
}
