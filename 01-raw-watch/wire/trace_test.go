package wire

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// The README shows such lines, and tools count them, so their format must not change.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed strings.Builder
		node := pod("n", 12)
		node.Kind, node.Namespace = "Node", ""
		server := play(t, list(10), stream(added(pod("a", 11)), modified(node), bookmark(13)), stream(failed(expired)))
		server.client.TraceTo(&printed)

		server.follow(t, NewReflector(server.client, "/api/v1/pods"))

		want := []string{
			"> GET /api/v1/pods?limit=500  200 OK",
			"> GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=T&watch=true  200 OK",
			"< ADDED Pod default/a  resourceVersion=11",
			"< MODIFIED Node n  resourceVersion=12",
			"< BOOKMARK Pod default/  resourceVersion=13",
			"> GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=13&timeoutSeconds=T&watch=true  200 OK",
			"< ERROR 410 Expired: " + expired.Message,
		}
		timeout := regexp.MustCompile(`timeoutSeconds=\d+`) // random
		got := strings.Split(timeout.ReplaceAllString(printed.String(), "timeoutSeconds=T"), "\n")
		if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
			t.Errorf("trace (-want +got):\n%s", diff)
		}
	})
}
