// The Reflector's requests and events: lists in pages, watches, and how it continues after a watch.
// Each case has a script with the server's responses, in order, the requests that the server should
// get, and the events that the Reflector should report.

package wire

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestReflector(t *testing.T) {
	for name, test := range map[string]struct {
		server       []http.HandlerFunc
		wantRequests []string // the last one comes after the script, and shows how the Reflector continues
		wantEvents   []string
	}{
		"a list is read page by page, and the watch starts from the list's resourceVersion": {
			server: []http.HandlerFunc{
				page(10, "p2", pod("a", 1), pod("b", 2)),
				page(10, "p3", pod("c", 3), pod("d", 4)),
				page(10, "", pod("e", 5)),
			},
			wantRequests: []string{"list limit=2", "list continue=p2&limit=2", "list continue=p3&limit=2", "watch from 10"},
			wantEvents:   []string{"ADDED a at 1", "ADDED b at 2", "ADDED c at 3", "ADDED d at 4", "ADDED e at 5"},
		},
		"if a list's next page has expired, the list is requested again, in one piece": {
			server: []http.HandlerFunc{
				page(10, "p2", pod("a", 1), pod("b", 2)),
				fail(expired),
				list(90, pod("a", 1), pod("b", 80), pod("c", 81)),
			},
			wantRequests: []string{"list limit=2", "list continue=p2&limit=2", "list ", "watch from 90"},
			wantEvents:   []string{"ADDED a at 1", "ADDED b at 80", "ADDED c at 81"},
		},
		"a watch reports changes in order, and is resumed after its end": {
			server: []http.HandlerFunc{
				list(10, pod("a", 1)),
				stream(added(pod("b", 11)), modified(pod("a", 12)), deleted(pod("b", 13))),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 13"},
			wantEvents:   []string{"ADDED a at 1", "ADDED b at 11", "MODIFIED a at 12", "DELETED b at 13"},
		},
		"a watch that is cut in the middle of an object loses no event and repeats none": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), half(added(pod("b", 12))), cut),
				stream(added(pod("b", 12)), added(pod("c", 13)), cut),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 11", "watch from 13"},
			wantEvents:   []string{"ADDED a at 11", "ADDED b at 12", "ADDED c at 13"},
		},
		"a bookmark isn't reported, and the next watch starts from it": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), bookmark(500)),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 500"},
			wantEvents:   []string{"ADDED a at 11"},
		},
		"after an ERROR event, the watch is resumed": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), failed(internalError)),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 11"},
			wantEvents:   []string{"ADDED a at 11"},
		},
		"an event of an unknown type isn't skipped: the watch is resumed before it": {
			server: []http.HandlerFunc{
				list(10),
				stream(added(pod("a", 11)), event("SURPRISE", pod("b", 12)), added(pod("c", 13))),
			},
			wantRequests: []string{"list limit=2", "watch from 10", "watch from 11"},
			wantEvents:   []string{"ADDED a at 11"},
		},
		"after a proxy's page instead of a list, with any status code, the list is requested again": {
			server: []http.HandlerFunc{
				respond(http.StatusBadGateway, proxyPage),
				respond(http.StatusOK, proxyPage),
				respond(http.StatusOK, `{"hello": "world"}`),
				respond(http.StatusOK, ""),
				list(10, pod("a", 1)),
			},
			wantRequests: []string{"list limit=2", "list limit=2", "list limit=2", "list limit=2", "list limit=2", "watch from 10"},
			wantEvents:   []string{"ADDED a at 1"},
		},
		"after a proxy's page instead of a watch, or in the middle of one, the watch is resumed": {
			server: []http.HandlerFunc{
				list(10),
				respond(http.StatusBadGateway, proxyPage),
				respond(http.StatusOK, proxyPage),
				stream(added(pod("a", 11)), proxyPage),
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
