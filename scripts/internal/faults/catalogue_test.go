package faults

// The catalogue, and what is printed.

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// Each fault of the proxy hits a program that watches, lists and writes, and gets an event.
func TestEveryProxyFaultHits(t *testing.T) {
	const watch = "/apis/samplecontroller.k8s.io/v1alpha1/foos?watch=true&resourceVersion=10"
	for _, fault := range All() {
		if fault.IsLeadersDeath() {
			continue
		}
		t.Run(fault.Name+" "+fault.Does, func(t *testing.T) {
			api := newAPIServer(t)
			proxy, err := faultproxy.Start(api.config)
			if err != nil {
				t.Fatal(err)
			}
			var program sync.WaitGroup
			defer program.Wait()
			defer proxy.Close()
			client, err := rest.HTTPClientFor(&rest.Config{
				Host: proxy.Address(), BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{CAData: proxy.CAData()},
			})
			if err != nil {
				t.Fatal(err)
			}
			send := func(method, path string) {
				request, err := http.NewRequest(method, proxy.Address()+path, http.NoBody)
				if err != nil {
					panic(err)
				}
				if answer, err := client.Do(request); err == nil {
					io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
			}
			program.Go(func() { send(http.MethodGet, watch) })
			testkit.Await(t, timeout, "a watch is open", func() error {
				if proxy.Watches() == 0 {
					return errors.New("none is")
				}
				return nil
			})
			made := fault.Begin(Target{Proxy: proxy, Kill: func() {}, Owned: []string{"deployments"}})
			program.Go(func() { send(http.MethodGet, "/apis/apps/v1/deployments") })
			program.Go(func() { send(http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/a/leases/x") })
			program.Go(func() { send(http.MethodPatch, "/apis/apps/v1/namespaces/a/deployments/x") })
			program.Go(func() { send(http.MethodGet, watch) })
			testkit.Await(t, timeout, "the fault hits", func() error {
				api.event()
				if made.Hits() == 0 {
					return errors.New(made.String())
				}
				return nil
			})
			made.Stop()
		})
	}
}

func TestFind(t *testing.T) {
	if fault, err := Find("f6A"); err != nil || fault.Name != "F6a" {
		t.Errorf("found %q, error %v", fault.Name, err)
	}
	_, err := Find("F4")
	if err == nil || err.Error() != `there is no fault "F4"` || !strings.Contains(problem.Format(err), "F3, F4a, F4b, F4c, F5") {
		t.Errorf("F4: error %v", err)
	}
}

func TestPrintedRequests(t *testing.T) {
	var page process.Buffer
	told := printer{out: &page, colours: ui.NewPalette(false)}
	for _, r := range []audit.Request{
		{Verb: "list", Resource: "foos", URI: "/foos", Code: 200},
		{Verb: "watch", Resource: "foos", URI: "/foos?watch=true", Code: 410},
		{Verb: "get", Resource: "foos", Namespace: "a", Name: "x", Code: 200},
		{Verb: "update", Resource: "leases", Namespace: "a", Name: "x", Code: 200},
		{Verb: "list", Resource: "deployments", Namespace: "a", Code: 200},
		{Verb: "get", Resource: "deployments", Namespace: "a", Name: "x", Code: 404},
		{Verb: "update", Resource: "foos/status", Namespace: "a", Name: "x", Code: 200},
		{Verb: "get", URI: "/version?pretty", Code: 200},
		{Verb: "get", URI: "/version?pretty", Code: 403},
	} {
		told.request(aRequest, r)
	}
	told.request(aRequest+" 2", audit.Request{Verb: "get", Code: 200})
	told.print(theFault, "hit %d", 1)
	told.heading("%s", "over")
	want := `request   list foos: 200
request   watch foos: 410
request   2 reads
request   get deployments a/x: 404
request   update foos/status a/x: 200
request   1 read
request   get /version: 403
request 2 1 read
fault     hit 1

== over
`
	if page.String() != want {
		t.Errorf("got\n%s\nwant\n%s", page.String(), want)
	}
}

func TestLogLinesArePrintedWithoutTheirTime(t *testing.T) {
	for line, want := range map[string]string{
		`I1121 06:43:59.620038   25626 main.go:69] "Starting" a="b"`: `I main.go:69] "Starting" a="b"`,
		`E1121 06:43:59.620038 1 queue.go:7] "No"`:                   `E queue.go:7] "No"`,
		"2026-11-22T18:29:40Z\tINFO\tStarting\t{\"a\": \"b\"}":       "I Starting\t{\"a\": \"b\"}",
		`panic: oh`: `panic: oh`,
	} {
		if got := withoutStamp(line); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
}
