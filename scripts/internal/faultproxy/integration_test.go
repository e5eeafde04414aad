// The proxy between a real API server and client-go's informers: what each fault makes them do.

package faultproxy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/testkit"
)

func cutOnce(p *Proxy) *Fault {
	fault := p.KeepCutting()
	fault.Stop()
	return fault
}

func TestInformersThroughTheProxy(t *testing.T) {
	cluster := newRealCluster(t)
	ways := []struct {
		name, mediaType string
		streamed        bool
		startOver       []string // the requests of a fresh start
	}{
		{"JSON, initial events streamed", runtime.ContentTypeJSON, true, []string{"watch with initial events 200"}},
		{"protobuf, initial events streamed", runtime.ContentTypeProtobuf, true, []string{"watch with initial events 200"}},
		{"protobuf, listed first", runtime.ContentTypeProtobuf, false, []string{"list 200", "watch 200"}},
	}
	for _, test := range []struct {
		fault     string
		apply     func(*Proxy) *Fault
		asks      []string // what the informer asks for next
		startOver bool     // and then all requests of a fresh start
	}{
		{"a cut connection: it resumes", cutOnce, []string{"watch 200"}, false},
		{"410 as an event: it starts over", func(p *Proxy) *Fault { return p.GoneAsEvent() }, nil, true},
		{"a frozen connection: the client notices, and starts over", (*Proxy).Freeze, nil, true},
	} {
		for _, way := range ways {
			t.Run(test.fault+", "+way.name, func(t *testing.T) {
				t.Parallel()
				proxy := startProxy(t, cluster.config)
				informer := cluster.follow(t, proxy, way.mediaType, way.streamed)
				// A watch that has brought nothing and lived for less than a second is started
				// over, whatever ended it.
				before := "before-" + suffix(proxy)
				cluster.create(t, before)
				informer.knows(t, before)
				already := len(proxy.Requests())

				fault := test.apply(proxy)
				after := "after-" + suffix(proxy)
				cluster.create(t, after)
				informer.knows(t, after)
				if fault.Hits() != 1 {
					t.Error(fault)
				}
				want := slices.Clone(test.asks)
				if test.startOver {
					want = append(want, way.startOver...)
				}
				testkit.Await(t, timeout, "the informer is back", func() error { return number(len(proxy.Requests())-already, len(want)) })
				if diff := cmp.Diff(want, inWords(proxy.Requests()[already:])); diff != "" {
					t.Error(diff)
				}
			})
		}
	}

	t.Run("a silent watch: no event arrives", func(t *testing.T) {
		t.Parallel()
		proxy := startProxy(t, cluster.config)
		informer := cluster.follow(t, proxy, runtime.ContentTypeJSON, true)
		fault := proxy.Silence()
		unheard := "unheard-" + suffix(proxy)
		cluster.create(t, unheard)
		for range 5 {
			if _, err := informer.client.CoreV1().ConfigMaps(cluster.namespace).Get(t.Context(), unheard, metav1.GetOptions{}); err != nil {
				t.Errorf("other requests must work, got %v", err)
			}
		}
		if open := len(proxy.clients.all()); open != 1 || proxy.Watches() != 1 {
			t.Errorf("%d connections and %d watches: want one each, as before", open, proxy.Watches())
		}
		fault.Stop()
		informer.knows(t, unheard)
	})

	t.Run("cut again and again: it catches up each time", func(t *testing.T) {
		t.Parallel()
		proxy := startProxy(t, cluster.config)
		informer := cluster.follow(t, proxy, runtime.ContentTypeJSON, true)
		fault := proxy.KeepCutting()
		for i := 0; fault.Hits() < 4; i++ {
			name := fmt.Sprintf("again-%d", i)
			cluster.create(t, name)
			informer.knows(t, name)
		}
	})
}

// suffix tells the tests apart, which share a namespace.
func suffix(proxy *Proxy) string { return proxy.Address()[len("https://127.0.0.1:"):] }

func inWords(requests []audit.Request) []string {
	var words []string
	for _, r := range requests {
		verb := r.Verb
		if r.Query().Get("sendInitialEvents") == "true" {
			verb += " with initial events"
		}
		words = append(words, fmt.Sprint(verb, " ", r.Code))
	}
	return words
}
