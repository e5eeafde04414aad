// The API server of the tests plays a script, with one response for each request. It speaks real
// HTTP, but over a net.Pipe, so that everything can run in a testing/synctest bubble. There, the
// clock stops while any goroutine runs, and jumps ahead when all of them wait. So a pause of a
// minute takes no time, and no test is flaky.

package wire

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// script is a server. After its last response the script is over, and further requests get no
// response.
type script struct {
	client *Client

	mu        sync.Mutex
	responses []http.HandlerFunc
	requests  []string    // descriptions
	times     []time.Time // of the requests
	over      chan struct{}
}

// play starts a server with these responses, and a client for it.
func play(t *testing.T, responses ...http.HandlerFunc) *script {
	s := &script{responses: responses, over: make(chan struct{})}
	network := make(network)
	server := &http.Server{Handler: s}
	go server.Serve(network)
	client, err := NewClient(&rest.Config{Host: "http://localhost", Dial: network.Dial})
	if err != nil {
		t.Fatal(err)
	}
	s.client = client
	t.Cleanup(func() { server.Close() })
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	respond := neverRespond
	switch n := len(s.requests); {
	case n < len(s.responses):
		respond = s.responses[n]
	case n == len(s.responses):
		close(s.over)
	}
	s.requests = append(s.requests, describeRequest(r))
	s.times = append(s.times, time.Now())
	s.mu.Unlock()
	respond(w, r)
}

// describeRequest describes a request, without the timeout of a watch, which is random.
func describeRequest(r *http.Request) string {
	query := r.URL.Query()
	if query.Get("watch") == "true" && query.Get("allowWatchBookmarks") == "true" && query.Get("timeoutSeconds") >= "300" {
		return "watch from " + query.Get("resourceVersion")
	}
	return "list " + query.Encode()
}

// requested returns the requests so far.
func (s *script) requested() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// waited returns the time between two requests. The first one is number 0.
func (s *script) waited(from, to int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times[to].Sub(s.times[from])
}

// follow runs the reflector until the script is over and returns the reported events. The reflector
// reports all events of one response before it sends the next request, so none is missed.
func (s *script) follow(t *testing.T, reflector *Reflector) []string {
	ctx, cancel := context.WithCancel(t.Context())
	events, ended := make(chan Event), make(chan struct{})
	go func() {
		defer close(ended)
		reflector.Run(ctx, events)
	}()
	var reported []string
	for {
		select {
		case event := <-events:
			reported = append(reported, describe(event))
		case <-s.over:
			cancel()
			<-ended
			return reported
		}
	}
}

// describe describes an event. "ADDED a at 5" is the object a at the resourceVersion 5.
func describe(event Event) string {
	return fmt.Sprintf("%s %s at %s", event.Type, event.Object.Name, event.Object.ResourceVersion)
}

// network is a listener for connections from the same process.
type network chan net.Conn

func (n network) Dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	n <- far
	return near, nil
}

func (n network) Accept() (net.Conn, error) {
	if conn, open := <-n; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (n network) Close() error { close(n); return nil }
func (network) Addr() net.Addr { return &net.TCPAddr{} }
