// What the image policy costs: dry-run creates of a Deployment, which is validated but never stored,
// without the policy and in each form.

package main

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BenchmarkCreate measures the median time of a create, with one client that waits for each answer,
// and the creates per second with eight clients at once. The forms take turns, so that whatever else
// the machine does slows down all of them. The webhook's program runs in this process, so its answers
// cross no network.
//
//	go test -C 06-kubebuilder ./imagepolicy -run '^$' -bench Create -benchtime 3000x
func BenchmarkCreate(b *testing.B) {
	b.Run("one client", func(b *testing.B) {
		for form, costs := range measureCreates(b, 1) {
			slices.Sort(costs.times)
			b.ReportMetric(float64(costs.times[len(costs.times)/2].Microseconds())/1000, "ms-"+form)
		}
	})
	b.Run("eight clients", func(b *testing.B) {
		for form, costs := range measureCreates(b, 8) {
			b.ReportMetric(float64(len(costs.times))/costs.elapsed.Seconds(), "creates/s-"+form)
		}
	})
}

// costs are what the creates in one form took.
type costs struct {
	times   []time.Duration // of each create
	elapsed time.Duration   // of all of them
}

// measureCreates sends b.N creates in each form, from that number of clients.
func measureCreates(b *testing.B, clients int) map[string]*costs {
	const turn = 50 // creates
	api := newAPIServer(b)
	namespaces := map[string]string{"without": newNamespace(b, api, "")}
	for _, form := range forms {
		namespaces[form] = newNamespace(b, api, form)
	}
	measured := map[string]*costs{}
	for form, namespace := range namespaces { // the first ones open connections
		measured[form] = &costs{}
		create(b, api, namespace, clients, turn)
	}

	b.ResetTimer()
	b.ReportMetric(0, "ns/op") // the time of all forms together says nothing
	for sent := 0; sent < b.N; sent += turn {
		for form, namespace := range namespaces {
			start := time.Now()
			times := create(b, api, namespace, clients, min(turn, b.N-sent))
			measured[form].elapsed += time.Since(start)
			measured[form].times = append(measured[form].times, times...)
		}
	}
	return measured
}

// create sends that number of creates, and returns how long each took.
func create(b *testing.B, api client.Client, namespace string, clients, count int) []time.Duration {
	b.Helper()
	times := make([]time.Duration, count)
	var next atomic.Int64
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(count); i = next.Add(1) - 1 {
				start := time.Now()
				if err := tryCreate(b.Context(), api, namespace, "docker.io/library/nginx"); err != nil {
					b.Error(err)
				}
				times[i] = time.Since(start)
			}
		})
	}
	group.Wait()
	return times
}
