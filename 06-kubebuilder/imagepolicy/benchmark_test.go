// What the image policy costs: the time of a dry-run create of a Deployment, which is never stored,
// without the policy and in each form.

package main

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkCreate measures one client, which waits for each answer, and then eight at once. The
// webhook's program runs in this process, so its answers never cross a network between machines.
//
//	go test -C 06-kubebuilder ./imagepolicy -run '^$' -bench Create -benchtime 3000x
func BenchmarkCreate(b *testing.B) {
	for _, clients := range []struct {
		name  string
		count int
	}{{"one client", 1}, {"eight clients", 8}} {
		for _, form := range []string{"", withWebhook, withPolicy} {
			name := form
			if form == "" {
				name = "nothing"
			}
			b.Run(clients.name+"/"+name, func(b *testing.B) { benchmarkCreate(b, form, clients.count) })
		}
	}
}

func benchmarkCreate(b *testing.B, form string, clients int) {
	api := newAPIServer(b)
	namespace := newNamespace(b, api, form)
	for range 100 { // so that connections are open and caches are filled
		must(b, tryCreate(b.Context(), api, namespace, "docker.io/library/nginx"))
	}
	todo := make(chan struct{}, b.N)
	for range b.N {
		todo <- struct{}{}
	}
	close(todo)
	times := make([][]time.Duration, clients)

	b.ResetTimer()
	var group sync.WaitGroup
	for i := range times {
		group.Go(func() {
			for range todo {
				start := time.Now()
				if err := tryCreate(b.Context(), api, namespace, "docker.io/library/nginx"); err != nil {
					b.Error(err)
				}
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	group.Wait()

	all := slices.Concat(times...)
	slices.Sort(all)
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(0, "ns/op") // with eight clients, this isn't the time of a request
	b.ReportMetric(milliseconds(all[len(all)/2]), "ms-median")
	b.ReportMetric(milliseconds(all[len(all)*99/100]), "ms-p99")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
