package faultproxy

// The tests' fake API server.

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/testkit"
)

// apiServer answers every write with what it was sent, every list with an empty one, and hands each
// watch to the test.
type apiServer struct {
	*httptest.Server
	config   *rest.Config // how one reaches the server itself
	requests chan *http.Request
	watches  chan *serverWatch
}

// serverWatch is the server's end of a watch.
type serverWatch struct {
	request *http.Request
	events  chan string
	ended   chan struct{} // closed when the client, or a proxy before it, has left
}

func newAPIServer(t *testing.T) *apiServer {
	api := &apiServer{requests: make(chan *http.Request, 1000), watches: make(chan *serverWatch, 1000)}
	api.Server, api.config = testkit.StartServer(t, api.answer)
	return api
}

func (a *apiServer) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "true" {
		a.watch(w, r)
		return
	}
	a.requests <- r
	if r.Method == http.MethodGet {
		fmt.Fprintln(w, `{"kind":"FooList","apiVersion":"samplecontroller.k8s.io/v1alpha1",
			"metadata":{"resourceVersion":"10"},"items":[]}`)
		return
	}
	io.Copy(w, r.Body)
}

func (a *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	watch := &serverWatch{request: r, events: make(chan string), ended: make(chan struct{})}
	defer close(watch.ended)
	flush := http.NewResponseController(w).Flush
	flush()
	a.watches <- watch
	for {
		select {
		case event, more := <-watch.events:
			if !more {
				return
			}
			io.WriteString(w, event)
			flush()
		case <-r.Context().Done():
			return
		}
	}
}
