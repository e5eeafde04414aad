// The Reflector's log messages for failures: one for each, with the fix.

package wire

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

func TestExplain(t *testing.T) {
	for name, test := range map[string]struct {
		response http.HandlerFunc
		want     []string
	}{
		"the CRD is missing (the response is text, not a Status)": {
			response: respond(http.StatusNotFound, "404 page not found\n"),
			want:     []string{"/apis/example.com/v1/foos", "is the CRD applied?"},
		},
		"no permission": {
			response: fail(failure(http.StatusForbidden, metav1.StatusReasonForbidden)),
			want:     []string{"it is Forbidden", "are the permissions applied?"},
		},
		"the credentials are refused or have expired": {
			response: fail(failure(http.StatusUnauthorized, metav1.StatusReasonUnauthorized)),
			want:     []string{"it is Unauthorized", "the server refuses the credentials"},
		},
		"the server is unavailable": {
			response: respond(http.StatusServiceUnavailable, ""),
			want:     []string{"currently unable to handle the request"},
		},
		"any other error is logged unchanged": {
			response: fail(internalError),
			want:     []string{"it is InternalError"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := clientOf(t, "", test.response)
			err := client.Do(t.Context(), http.MethodGet, "/apis/example.com/v1/foos", nil, nil, nil)
			got := explain("/apis/example.com/v1/foos", err)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q doesn't mention %q", got, want)
				}
			}
		})
	}
}

// The kubeconfig has the address of a server that doesn't run.
func TestExplainNoServer(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	client, err := NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}

	err = client.Do(t.Context(), http.MethodGet, "/api/v1/pods", nil, nil, nil)

	got := explain("/api/v1/pods", err)
	address := strings.TrimPrefix(server.URL, "http://")
	if !strings.Contains(got, address) || !strings.Contains(got, "refused") {
		t.Errorf("%q doesn't say that the connection to %s was refused", got, address)
	}
	if strings.Contains(got, "/api/v1/pods") {
		t.Errorf("%q contains the path, want none, because the path differs between requests", got)
	}
}

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
