package faultproxy

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/testkit"
)

var foosResource = schema.GroupVersionResource{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"}

func foos(t *testing.T, config *rest.Config) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(foosResource).Namespace("a")
}

func TestGoneAsEvent(t *testing.T) {
	api, proxy, config := setup(t)
	follow, err := foos(t, config).Watch(t.Context(), metav1.ListOptions{ResourceVersion: "10"})
	if err != nil {
		t.Fatal(err)
	}
	server := receive(t, "a watch", api.watches)
	if hits := proxy.GoneAsEvent().Hits(); hits != 1 {
		t.Errorf("%d hits, want 1", hits)
	}
	event := receive(t, "an event", follow.ResultChan())
	if err := apierrors.FromObject(event.Object); event.Type != apiwatch.Error || !apierrors.IsResourceExpired(err) {
		t.Errorf("got %s: %v", event.Type, err)
	}
	if _, more := <-follow.ResultChan(); more {
		t.Error("the watch hasn't ended")
	}
	receive(t, "the server hears of it", server.ended)

	_, err = foos(t, config).Watch(t.Context(), metav1.ListOptions{ResourceVersion: "10"})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("a watch that goes on from there: %v", err)
	}
}

// A client that has no resourceVersion any more, or that lists the objects again, isn't answered
// 410.
func TestGoneIsForWatchesWithAResourceVersion(t *testing.T) {
	api, proxy, config := setup(t)
	resource := foos(t, config)
	begin := func(options metav1.ListOptions) error {
		_, err := resource.Watch(t.Context(), options)
		return err
	}
	if err := begin(metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	receive(t, "a watch", api.watches)
	for sentence, fresh := range map[string]metav1.ListOptions{
		"no version":  {},
		"any version": {ResourceVersion: "0"},
		"the objects themselves": {
			ResourceVersion: "10", SendInitialEvents: new(true),
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		},
	} {
		proxy.GoneAsEvent()
		var got []bool
		for _, options := range []metav1.ListOptions{{ResourceVersion: "10"}, fresh, {ResourceVersion: "10"}} {
			got = append(got, apierrors.IsResourceExpired(begin(options)))
		}
		if diff := cmp.Diff([]bool{true, false, false}, got); diff != "" {
			t.Errorf("%s: %s", sentence, diff)
		}
	}
}

func TestAClientMayLeaveAWatchWithoutEvents(t *testing.T) {
	api, proxy, config := setup(t)
	watch := openWatch(t, httpClient(t, config), proxy)
	server := receive(t, "a watch", api.watches)
	proxy.Delay(time.Hour)
	server.events <- "event\n"
	watch.Close()
	receive(t, "the server hears of it", server.ended)
	testkit.Await(t, timeout, "the watch is gone", func() error { return number(len(proxy.open()), 0) })
}

func TestDelay(t *testing.T) {
	const bookmark = `{"type":"BOOKMARK","annotation":"k8s.io/initial-events-end"}`
	for sentence, test := range map[string]struct {
		query   string
		onTime  []string // events that pass although the delay is an hour
		delayed []string
	}{
		"an event":                       {delayed: []string{"one"}},
		"events stay in order":           {delayed: []string{"one", "two", "three"}},
		"initial events are on time":     {"sendInitialEvents=true", []string{"one", bookmark}, []string{"two"}},
		"an event after initial ones is": {"sendInitialEvents=true", []string{bookmark}, []string{"one", bookmark}},
	} {
		t.Run(sentence, func(t *testing.T) {
			api, proxy, config := setup(t)
			client := httpClient(t, config)
			watch := openWatch(t, client, proxy, test.query)
			server := receive(t, "a watch", api.watches)
			fault := proxy.Delay(time.Hour)
			for _, event := range append(test.onTime, test.delayed...) {
				server.events <- event + "\n"
			}
			for _, want := range test.onTime {
				if got := receive(t, "an event", watch.lines); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			waitFor(t, fault, len(test.delayed))
			send(t, client, proxy, "GET "+foosPath)
			if len(watch.lines) > 0 || fault.Hits() > len(test.delayed) {
				t.Errorf("%d events arrived on time, %v", len(watch.lines), fault)
			}

			fault.Stop()

			for _, want := range test.delayed {
				if got := receive(t, "an event", watch.lines); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// If each event waited for the one before, these would take twice as long as the test may.
func TestDelaysDoNotAddUp(t *testing.T) {
	api, proxy, config := setup(t)
	const events, delay = 200, 300 * time.Millisecond
	proxy.Delay(delay)
	watch := openWatch(t, httpClient(t, config), proxy)
	server := receive(t, "a watch", api.watches)
	begin := time.Now()
	for i := range events {
		server.events <- fmt.Sprintln(i)
	}
	for i := range events {
		if got := receive(t, "an event", watch.lines); got != fmt.Sprint(i) {
			t.Fatalf("got event %s, want %d", got, i)
		}
	}
	if took := time.Since(begin); took < delay || took > events*delay/2 {
		t.Errorf("the events took %v", took)
	}
}
