package wire

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The README shows such lines, and tools count them, so their format must not change.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var printed strings.Builder
		node := metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
			ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "12"},
		}
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

// A request that got no response is traced, too, with the reason.
func TestTraceOfARequestWithoutAResponse(t *testing.T) {
	var printed strings.Builder
	client := clientOf(t, "", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	client.TraceTo(&printed)

	client.Do(t.Context(), http.MethodDelete, "/api/v1/namespaces/default/pods/a", nil, nil, nil)

	if got := printed.String(); !strings.HasPrefix(got, "> DELETE /api/v1/namespaces/default/pods/a  ") || !strings.HasSuffix(got, "EOF\n") {
		t.Errorf("got the trace %q, want one line with the request and EOF", got)
	}
}
