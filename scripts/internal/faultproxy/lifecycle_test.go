package faultproxy

// A proxy's start and end, and faults at any time between.

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/testkit"
)

func TestCloseEndsEverything(t *testing.T) {
	api, proxy, config := setup(t)
	var watches []*clientWatch
	for _, fault := range []func(){
		func() { proxy.Freeze() },
		func() { proxy.Delay(timeout) },
		func() {},
	} {
		own := rest.CopyConfig(config)
		own.Dial = (&net.Dialer{Timeout: timeout}).DialContext // so it has a connection of its own
		watches = append(watches, openWatch(t, httpClient(t, own), proxy))
		receive(t, "a watch", api.watches)
		fault()
	}
	if open := len(proxy.clients.all()); open != 3 {
		t.Fatalf("%d connections, want 3", open)
	}

	proxy.Close()
	proxy.Close()
	if len(proxy.clients.all())+len(proxy.open()) > 0 {
		t.Error("a connection is still open")
	}
	testkit.Await(t, timeout, "nothing still runs", leftover)
	for _, watch := range watches {
		receive(t, "the watch ends", watch.end)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(proxy.Address(), "https://")); err == nil {
		t.Error("the proxy still listens")
	}
}

// Faults come from one goroutine and requests from others, for the race detector.
func TestFaultsMayBeMadeAtAnyTime(t *testing.T) {
	_, proxy, config := setup(t)
	client := httpClient(t, config)
	var program sync.WaitGroup
	enough := make(chan struct{})
	for range 3 {
		program.Go(func() {
			for {
				select {
				case <-enough:
					return
				default:
					try(t, client, proxy, "PATCH "+foosPath+"/x")
					try(t, client, proxy, "GET "+foosPath+"?watch=true&resourceVersion=1")
				}
			}
		})
	}
	for range 10 {
		for _, fault := range []func() *Fault{
			proxy.KeepCutting,
			func() *Fault { return proxy.GoneAsEvent() },
			proxy.Freeze,
			func() *Fault { return proxy.FailWrites(http.StatusConflict) },
			func() *Fault { return proxy.Forbid(Resource("deployments")) },
		} {
			fault().Stop()
			try(t, client, proxy, "PATCH "+foosPath+"/x") // so that the others get on
		}
		proxy.Requests()
	}
	close(enough)
	proxy.Close()
	program.Wait()
}
