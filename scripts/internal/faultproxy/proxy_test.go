package faultproxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/testkit"
)

func TestARequestPassesUnchanged(t *testing.T) {
	for sentence, protocol := range map[string]string{
		"over HTTP/2":   "HTTP/2.0",
		"over HTTP/1.1": "HTTP/1.1",
	} {
		t.Run(sentence, func(t *testing.T) {
			api, proxy, config := setup(t)
			config.UserAgent = "test/1"
			if protocol == "HTTP/1.1" {
				config.NextProtos = []string{"http/1.1"}
			}
			const foo, uri = `{"metadata":{"name":"x"}}`, foosPath + "?dryRun=All"
			answer, err := httpClient(t, config).Post(proxy.Address()+uri, "application/json", strings.NewReader(foo))
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.Proto != protocol || answer.StatusCode != http.StatusOK || string(body) != foo {
				t.Errorf("the answer came by %s: %s %s, error %v", answer.Proto, answer.Status, body, err)
			}

			request := receive(t, "the request", api.requests)
			got := []string{
				request.Proto, request.Method, request.RequestURI, request.Host,
				request.Header.Get("Authorization"), request.UserAgent(),
			}
			want := []string{
				"HTTP/2.0", "POST", uri, strings.TrimPrefix(api.URL, "https://"), "Bearer " + token, "test/1",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			wantCounted := []audit.Request{{
				Verb: "create", URI: uri, Namespace: "a", Group: "samplecontroller.k8s.io", Resource: "foos", Name: "x",
				UserAgent: "test/1", Code: 200, Body: foo,
			}}
			withoutTimes := cmpopts.IgnoreFields(audit.Request{}, "Received", "Answered")
			if diff := cmp.Diff(wantCounted, proxy.Requests(), withoutTimes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWritesAreCountedWithoutLeasesAndEvents(t *testing.T) {
	_, proxy, config := setup(t)
	client := httpClient(t, config)
	var followed []audit.Request
	proxy.Follow(func(r audit.Request) { followed = append(followed, r) })
	for _, request := range []string{
		"GET " + foosPath,
		"PUT " + foosPath + "/x/status",
		"PATCH /apis/coordination.k8s.io/v1/namespaces/a/leases/x",
		"POST /api/v1/namespaces/a/events",
		"POST /apis/events.k8s.io/v1/namespaces/a/events",
		"POST /apis/example.com/v1/namespaces/a/events",
		"POST /version",
	} {
		send(t, client, proxy, request)
	}
	var got []string
	for _, request := range proxy.Requests() {
		if request.ChangesObjects() {
			got = append(got, request.Verb+" "+request.Resource)
		}
	}
	if diff := cmp.Diff([]string{"update foos/status", "create events"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(proxy.Requests(), followed); diff != "" {
		t.Errorf("followers got other requests: %s", diff)
	}
}

// Each event is sent after the one before has arrived, so a proxy that collects events would wait
// forever.
func TestEventsArriveAtOnce(t *testing.T) {
	api, proxy, config := setup(t)
	client := openWatch(t, httpClient(t, config), proxy)
	server := receive(t, "a watch", api.watches)
	for i := range 3 {
		event := fmt.Sprintf(`{"type":"ADDED","object":{"n":%d}}`, i)
		server.events <- event + "\n"
		if got := receive(t, "the event", client.lines); got != event {
			t.Errorf("got %s, want %s", got, event)
		}
	}
	close(server.events)
	if err := receive(t, "the end", client.end); err != nil {
		t.Errorf("the server has ended the watch, but the client sees: %v", err)
	}
	testkit.Await(t, timeout, "no watch is open", func() error { return number(len(proxy.open()), 0) })
}

func TestAClientThatLeavesKeepsItsConnection(t *testing.T) {
	api, proxy, config := setup(t)
	client := httpClient(t, config)
	watch := openWatch(t, client, proxy)
	server := receive(t, "a watch", api.watches)
	watch.Close()
	receive(t, "the server hears of it", server.ended)
	before := proxy.clients.all()
	send(t, client, proxy, "GET "+foosPath)
	if after := proxy.clients.all(); len(after) != 1 || after[0] != before[0] {
		t.Errorf("the connection was %v, and is %v", before, after)
	}
}

func TestADeadServerClosesTheConnection(t *testing.T) {
	api, proxy, config := setup(t)
	client := httpClient(t, config)
	watch := openWatch(t, client, proxy)
	receive(t, "a watch", api.watches)

	api.Listener.Close()
	api.CloseClientConnections()
	endsEarly(t, watch)
	if answer, err := client.Get(proxy.Address() + foosPath); err == nil {
		t.Errorf("the dead server answers %s", answer.Status)
	}

	listener, err := net.Listen("tcp", api.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	revived := &http.Server{Handler: api.Config.Handler, TLSConfig: api.TLS}
	go revived.ServeTLS(listener, "", "")
	defer revived.Close()
	send(t, client, proxy, "GET "+foosPath)
}
