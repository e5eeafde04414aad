// One request and one response: what Do sends, and what it returns for each response.

package wire

import (
	"context"
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
	type request struct{ Line, Accept, ContentType, Body string }
	for name, test := range map[string]struct {
		prefix, method, path string
		query                url.Values
		in                   any
		want                 request
	}{
		"a GET has no body": {
			method: http.MethodGet, path: "/api/v1/pods",
			want: request{Line: "GET /api/v1/pods", Accept: "application/json"},
		},
		"a POST has a body and a Content-Type": {
			method: http.MethodPost, path: "/api/v1/pods", in: map[string]int{"answer": 42},
			want: request{Line: "POST /api/v1/pods", Accept: "application/json", ContentType: "application/json", Body: `{"answer":42}`},
		},
		"a query is escaped": {
			method: http.MethodGet, path: "/api/v1/pods", query: url.Values{"labelSelector": {"a=b,c in (d, e)"}, "limit": {"5"}},
			want: request{Line: "GET /api/v1/pods?labelSelector=a%3Db%2Cc+in+%28d%2C+e%29&limit=5", Accept: "application/json"},
		},
		"the server's address may have a path": {
			prefix: "/k8s/clusters/x", method: http.MethodGet, path: "/api/v1/pods", query: url.Values{"limit": {"5"}},
			want: request{Line: "GET /k8s/clusters/x/api/v1/pods?limit=5", Accept: "application/json"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got request
			client := clientOf(t, test.prefix, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = request{r.Method + " " + r.RequestURI, r.Header.Get("Accept"), r.Header.Get("Content-Type"), string(body)}
				io.WriteString(w, "{}")
			})

			if err := client.Do(t.Context(), test.method, test.path, test.query, test.in, nil); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDoDecodesTheResponse(t *testing.T) {
	sent := hugePod("a", 1)
	client := clientOf(t, "", respond(http.StatusOK, encode(sent)))

	var got metav1.PartialObjectMetadata
	if err := client.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/default/pods/a", nil, nil, &got); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(sent, got); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func TestDoFails(t *testing.T) {
	for name, test := range map[string]struct {
		method   string
		response http.HandlerFunc
		want     func(error) bool // a function of apierrors that should return true
		wantText string
	}{
		"a stale write": {
			method: http.MethodPut, response: fail(failure(http.StatusConflict, metav1.StatusReasonConflict)),
			want: apierrors.IsConflict, wantText: "it is Conflict",
		},
		"a name that is taken (the same code, another reason)": {
			method: http.MethodPost, response: fail(failure(http.StatusConflict, metav1.StatusReasonAlreadyExists)),
			want: apierrors.IsAlreadyExists, wantText: "it is AlreadyExists",
		},
		"history that is gone": {
			method: http.MethodGet, response: fail(expired),
			want: apierrors.IsResourceExpired, wantText: "it is Expired",
		},
		"a proxy's page": {
			method: http.MethodGet, response: respond(http.StatusBadGateway, proxyPage),
			want: apierrors.IsInternalError, wantText: "GET /api/v1/pods: 502 Bad Gateway: <html>",
		},
		"JSON that isn't a Status": {
			method: http.MethodGet, response: respond(http.StatusBadGateway, `{"error": "upstream"}`),
			want: apierrors.IsInternalError, wantText: "upstream",
		},
		"no body": {
			method: http.MethodGet, response: respond(http.StatusServiceUnavailable, ""),
			want: apierrors.IsServiceUnavailable, wantText: "unable to handle the request",
		},
		"a very long body": {
			method: http.MethodGet, response: respond(http.StatusInternalServerError, strings.Repeat("x", 1<<20)),
			want: apierrors.IsInternalError, wantText: "500 Internal Server Error: xxx",
		},
		"garbage instead of an object": {
			method: http.MethodGet, response: respond(http.StatusOK, proxyPage),
			want: isSyntaxError, wantText: "GET /api/v1/pods: decode the response",
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := clientOf(t, "", test.response)

			err := client.Do(t.Context(), test.method, "/api/v1/pods", nil, nil, nil)

			if !test.want(err) || !strings.Contains(err.Error(), test.wantText) {
				t.Errorf("got the error %v, want one of the right kind with the text %q", err, test.wantText)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes, want at most 1000", len(err.Error()))
			}
		})
	}
}

func isSyntaxError(err error) bool {
	var syntaxError *json.SyntaxError
	return errors.As(err, &syntaxError)
}

func TestDoEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := clientOf(t, "", func(w http.ResponseWriter, r *http.Request) {
		cancel()
		neverRespond(w, r)
	})

	if err := client.Do(ctx, http.MethodGet, "/api/v1/pods", nil, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v, want context.Canceled", err)
	}
}
