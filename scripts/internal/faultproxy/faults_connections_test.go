package faultproxy

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

func cutOnce(p *Proxy) *Fault {
	fault := p.KeepCutting()
	fault.Stop()
	return fault
}

func TestCutting(t *testing.T) {
	api, proxy, config := setup(t)
	client := httpClient(t, config)
	watches := []*clientWatch{openWatch(t, client, proxy), openWatch(t, client, proxy)}
	if hits := cutOnce(proxy).Hits(); hits != 2 {
		t.Errorf("%d watches cut, want 2", hits)
	}
	if hits := cutOnce(proxy).Hits(); hits != 0 {
		t.Errorf("%d watches cut a second time", hits)
	}
	for _, watch := range watches {
		endsEarly(t, watch)
		server := receive(t, "the server's end of the watch", api.watches)
		receive(t, "the server hears of it", server.ended)
	}
	openWatch(t, client, proxy)
	send(t, client, proxy, "GET "+foosPath)
}

func TestKeepCutting(t *testing.T) {
	for sentence, test := range map[string]struct {
		query  string
		events []string
	}{
		"after one event": {"", []string{"1"}},
		"initial ones don't count": {
			"sendInitialEvents=true", []string{"1", "2", `{"k8s.io/initial-events-end":"true"}`, "3"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			api, proxy, config := setup(t)
			client := httpClient(t, config)
			watch := openWatch(t, client, proxy, test.query)
			receive(t, "a watch", api.watches)
			fault := proxy.KeepCutting()
			endsEarly(t, watch)
			watch = openWatch(t, client, proxy, test.query)
			server := receive(t, "a watch", api.watches)
			for _, event := range test.events {
				server.events <- event + "\n"
				if got := receive(t, "an event", watch.lines); got != event {
					t.Errorf("got %s, want %s", got, event)
				}
			}
			server.events <- "one too many\n"
			waitFor(t, fault, 2)
			endsEarly(t, watch)

			watch = openWatch(t, client, proxy)
			server = receive(t, "a watch", api.watches)
			fault.Stop()
			for range 3 {
				server.events <- "more\n"
				receive(t, "an event", watch.lines)
			}
		})
	}
}

// endsEarly waits until the client sees that its connection is gone, and no further event.
func endsEarly(t *testing.T, watch *clientWatch) {
	t.Helper()
	if err := receive(t, "the watch ends", watch.end); !isCut(err) || len(watch.lines) > 0 {
		t.Errorf("it ended with %v after %d more events, want a connection that is gone", err, len(watch.lines))
	}
}

// isCut reports whether a client's connection was closed under it. What it sees depends on what was
// under way.
func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

func TestFreeze(t *testing.T) {
	api, proxy, config := setup(t)
	client := httpClient(t, config)
	watch := openWatch(t, client, proxy)
	server := receive(t, "a watch", api.watches)

	fault := proxy.Freeze()
	if fault.Hits() != 1 {
		t.Errorf("%d connections are frozen, want 1", fault.Hits())
	}
	server.events <- "event\n"
	// client-go pings the server and gets no answer. Until then a request on this connection has no
	// answer; once client-go drops the connection, a new one works.
	if err := receive(t, "the client notices", watch.end); err == nil || len(watch.lines) > 0 {
		t.Errorf("the watch ended with %v after %d events", err, len(watch.lines))
	}
	send(t, client, proxy, "GET "+foosPath)
	if open := len(proxy.clients.all()); open != 2 {
		t.Errorf("%d connections, want the frozen one and the new one", open)
	}
	fault.Stop()
	fault.Stop()
	receive(t, "the server notices that the frozen watch is abandoned", server.ended)
	testkit.Await(t, timeout, "the frozen connection is gone", func() error { return number(len(proxy.clients.all()), 1) })
}

func TestAFrozenConnectionGoesOnAfterwards(t *testing.T) {
	api, proxy, config := setup(t)
	watch := openWatch(t, httpClient(t, config), proxy)
	server := receive(t, "a watch", api.watches)
	fault := proxy.Freeze()
	for i := range 3 {
		server.events <- fmt.Sprintf("%d\n", i)
	}
	fault.Stop()
	for i := range 3 {
		if got := receive(t, "an event", watch.lines); got != fmt.Sprint(i) {
			t.Errorf("got %s, want %d", got, i)
		}
	}
}

func TestDown(t *testing.T) {
	_, proxy, config := setup(t)
	client := httpClient(t, config)
	send(t, client, proxy, "GET /version")
	fault := proxy.Down()
	for range 2 { // the first request may still use the open connection
		if code := try(t, client, proxy, "GET /version"); code != 0 {
			t.Errorf("answered %d, want no answer", code)
		}
	}
	waitFor(t, fault, 2) // the open connection, and a new one
	fault.Stop()
	send(t, client, proxy, "GET /version")
}
