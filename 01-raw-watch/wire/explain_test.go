// The Reflector's log messages for failures: one for each, with the fix.

package wire

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// The log reports a CRD that is missing for a while, missing permissions and refused credentials.
// It reports each of them once, and again when it is over. If history is gone (410), that isn't a
// failure.
func TestFailuresAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	defer klog.CaptureState().Restore()
	klog.LogToStderr(false)
	klog.SetOutput(&log)

	synctest.Test(t, func(t *testing.T) {
		noCRD := respond(http.StatusNotFound, "")
		forbidden := fail(failure(http.StatusForbidden, metav1.StatusReasonForbidden))
		expiredToken := fail(failure(http.StatusUnauthorized, metav1.StatusReasonUnauthorized))
		server := play(t,
			noCRD, noCRD, noCRD, forbidden, forbidden, list(10), stream(),
			expiredToken, expiredToken, stream(),
			fail(expired), list(90), stream())
		server.follow(t, NewReflector(server.client, "/apis/example.com/v1/foos"))
	})
	klog.Flush()

	for text, want := range map[string]int{
		"Waiting": 3, "is the CRD applied?": 1, "are the permissions applied?": 1, "the server refuses the credentials": 1,
		"Resumed": 2,
	} {
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("%q is logged %d times, want %d", text, got, want)
		}
	}
	if t.Failed() {
		t.Log(log.String())
	}
}

// The URL has a random timeout in it, so with it, the same failure would look like a new one.
func TestExplainLeavesOutTheURL(t *testing.T) {
	err := &url.Error{Op: "Get", URL: "http://localhost/api/v1/pods?timeoutSeconds=321", Err: errors.New("connection refused")}
	if got := explain("/api/v1/pods", err); got != "connection refused" {
		t.Errorf("got %q, want only the reason", got)
	}
}
