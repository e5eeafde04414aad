// One request and one response: what Do sends, and what it returns for each response.

package wire

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// clientOf returns a Client for a server with this handler. prefix is the path in the server's
// address, as for an API server behind a proxy.
func clientOf(t *testing.T, prefix string, handler http.HandlerFunc) *Client {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := NewClient(&rest.Config{Host: server.URL + prefix})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestDoSends(t *testing.T) {
	type request struct{ Line, ContentType, Body string }
	for sentence, test := range map[string]struct {
		prefix, method string
		query          url.Values
		in             any
		want           request
	}{
		"a GET has no body": {
			method: http.MethodGet,
			want:   request{Line: "GET /api/v1/pods"},
		},
		"a POST has a body and a Content-Type": {
			method: http.MethodPost, in: map[string]int{"answer": 42},
			want: request{Line: "POST /api/v1/pods", ContentType: "application/json", Body: `{"answer":42}`},
		},
		"a query is escaped, and the server's address may have a path": {
			prefix: "/k8s/clusters/x", method: http.MethodGet, query: url.Values{"labelSelector": {"a=b,c in (d, e)"}},
			want: request{Line: "GET /k8s/clusters/x/api/v1/pods?labelSelector=a%3Db%2Cc+in+%28d%2C+e%29"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got request
			sent := pod("a", 1)
			client := clientOf(t, test.prefix, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = request{r.Method + " " + r.RequestURI, r.Header.Get("Content-Type"), string(body)}
				io.WriteString(w, encode(sent))
			})

			var out metav1.PartialObjectMetadata
			if err := client.Do(t.Context(), test.method, "/api/v1/pods", test.query, test.in, &out); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(sent, out); diff != "" {
				t.Errorf("the object in the response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDoFails(t *testing.T) {
	isSyntaxError := func(err error) bool { return errors.As(err, new(*json.SyntaxError)) }
	for sentence, test := range map[string]struct {
		method   string
		response http.HandlerFunc
		want     func(error) bool // a function of apierrors that should return true
		wantText string
	}{
		"a stale write":                 {"PUT", fail(failure(http.StatusConflict, metav1.StatusReasonConflict)), apierrors.IsConflict, "it is Conflict"},
		"a taken name (the same code)":  {"POST", fail(failure(http.StatusConflict, metav1.StatusReasonAlreadyExists)), apierrors.IsAlreadyExists, "it is AlreadyExists"},
		"history that is gone":          {"GET", fail(expired), apierrors.IsResourceExpired, "it is Expired"},
		"a proxy's page":                {"GET", respond(http.StatusBadGateway, proxyPage), apierrors.IsInternalError, "GET /api/v1/pods: 502 Bad Gateway: <html>"},
		"JSON that isn't a Status":      {"GET", respond(http.StatusBadGateway, `{"error": "upstream"}`), apierrors.IsInternalError, "upstream"},
		"a very long body":              {"GET", respond(http.StatusInternalServerError, strings.Repeat("x", 1<<20)), apierrors.IsInternalError, "500 Internal Server Error: xxx"},
		"garbage instead of an object":  {"GET", respond(http.StatusOK, proxyPage), isSyntaxError, "GET /api/v1/pods: decode the response"},
		"no CRD, and text as an answer": {"GET", respond(http.StatusNotFound, "404 page not found\n"), apierrors.IsNotFound, "could not find the requested resource"},
	} {
		t.Run(sentence, func(t *testing.T) {
			client := clientOf(t, "", test.response)

			err := client.Do(t.Context(), test.method, "/api/v1/pods", nil, nil, nil)

			if !test.want(err) || !strings.Contains(err.Error(), test.wantText) || len(err.Error()) > 1000 {
				t.Errorf("got the error %.1000v, want a short one of the right kind with the text %q", err, test.wantText)
			}
		})
	}
}
