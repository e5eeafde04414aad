// The API server of the tests: it plays a script, one answer a request. What goes over the
// connection is real HTTP, but the connection is a net.Pipe, so that all of it can live in a bubble
// of testing/synctest. In there the clock stands still while anybody runs and jumps ahead when
// everybody waits: ninety idle seconds take no time, and no test is flaky.

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

// script is a server. After its last answer it is over, and any further request is left without
// one.
type script struct {
	client *Client

	mu       sync.Mutex
	answers  []http.HandlerFunc
	requests []string    // what was asked, in words
	times    []time.Time // and when
	over     chan struct{}
}

// play starts a server with these answers and a client for it.
func play(t *testing.T, answers ...http.HandlerFunc) *script {
	s := &script{answers: answers, over: make(chan struct{})}
	network := &network{calls: make(chan net.Conn), closed: make(chan struct{})}
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
	answer := neverAnswer
	switch n := len(s.requests); {
	case n < len(s.answers):
		answer = s.answers[n]
	case n == len(s.answers):
		close(s.over)
	}
	s.requests = append(s.requests, inWords(r))
	s.times = append(s.times, time.Now())
	s.mu.Unlock()
	answer(w, r)
}

// inWords says what a request asks for. The timeout of a watch is random, so it is left out.
func inWords(r *http.Request) string {
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

// waited returns how long the client took between two requests, counted from 0.
func (s *script) waited(from, to int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times[to].Sub(s.times[from])
}

// follow runs the reflector until the script is over and returns what it reported. Each request
// comes after all that was learned from the one before it is reported, so nothing is missed.
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

// describe says what an event reports, such as "ADDED a at 5": the object a, as of resourceVersion
// 5.
func describe(event Event) string {
	return fmt.Sprintf("%s %s at %s", event.Type, event.Object.Name, event.Object.ResourceVersion)
}

// network connects a client to a server in the same process.
type network struct {
	calls  chan net.Conn
	closed chan struct{}
}

func (n *network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case n.calls <- far:
		return near, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case call := <-n.calls:
		return call, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error   { close(n.closed); return nil }
func (n *network) Addr() net.Addr { return &net.TCPAddr{} }
