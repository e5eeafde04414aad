package main

// What the metrics of the five queues show. Time is synctest's, so a minute takes no time, and a busy
// machine doesn't change the numbers.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestMetricsAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := runFor(t, time.Minute+time.Millisecond) // not in the moment of an event
		t.Log("after a minute:\n" + table(t, registry))
		for sentence, c := range map[string]struct {
			queue, metric string
			least, most   float64
		}{
			"healthy: each event is an add":                            {"healthy", "adds_total", 600, 600},
			"healthy: nothing waits":                                   {"healthy", "depth", 0, 0},
			"healthy: nothing is retried":                              {"healthy", "retries_total", 0, 0},
			"growing: ten keys a second arrive, and two are processed": {"growing", "depth", 470, 490},
			"growing: keys wait for long":                              {"growing", "queue_duration_seconds", 20, 30},
			"growing: because the work on each takes a second":         {"growing", "work_duration_seconds", 1, 1},
			"growing: the workers are busy, but not stuck":             {"growing", "longest_running_processor_seconds", 0, 1},
			"stuck: one worker has had its key for nearly a minute":    {"stuck", "longest_running_processor_seconds", 59, 60},
			"stuck: only one worker is stuck":                          {"stuck", "unfinished_work_seconds", 59, 60},
			"stuck: the stuck key was added again":                     {"stuck", "depth", 1, 1},
			"stuck: only finished work has a duration":                 {"stuck", "work_duration_seconds", 0.009, 0.011},
			"failing: keys in their backoff don't count as waiting":    {"failing", "depth", 0, 0},
			"failing: ten keys were retried 14 times each":             {"failing", "retries_total", 140, 140},
			"hot loop: no key fails":                                   {"hot-loop", "retries_total", 0, 0},
			"hot loop: a hundred adds a second for one object":         {"hot-loop", "adds_total", 5900, 6001},
		} {
			if got := value(t, registry, "workqueue_"+c.metric, c.queue); got < c.least || got > c.most {
				t.Errorf("%s: workqueue_%s{name=%q} is %v, want %v to %v", sentence, c.metric, c.queue, got, c.least, c.most)
			}
		}
	})
}

// runFor runs all queues for d. They end with the test.
func runFor(t *testing.T, d time.Duration) *prometheus.Registry {
	ctx, stop := context.WithCancel(t.Context())
	registry := prometheus.NewRegistry()
	provider := newProvider(registry)
	var running sync.WaitGroup
	for _, w := range workloads {
		running.Go(func() { w.run(ctx, provider) })
	}
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	time.Sleep(d)
	synctest.Wait()
	return registry
}

// table has a row for each metric, and a column for each queue.
func table(t *testing.T, registry *prometheus.Registry) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprint(w, "workqueue_…")
	for _, workload := range workloads {
		fmt.Fprint(w, "\t", workload.name)
	}
	for _, metric := range []string{
		"depth", "adds_total", "retries_total", "queue_duration_seconds", "work_duration_seconds",
		"unfinished_work_seconds", "longest_running_processor_seconds",
	} {
		fmt.Fprint(w, "\n", metric)
		for _, workload := range workloads {
			fmt.Fprintf(w, "\t%.4g", value(t, registry, "workqueue_"+metric, workload.name))
		}
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// value returns the value of one queue's metric: of a histogram, the average.
func value(t *testing.T, registry *prometheus.Registry, metric, queue string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() != metric || m.GetLabel()[0].GetValue() != queue {
				continue
			}
			if h := m.GetHistogram(); h != nil {
				return h.GetSampleSum() / float64(h.GetSampleCount())
			}
			return m.GetGauge().GetValue() + m.GetCounter().GetValue() // one of them is nil
		}
	}
	t.Fatalf("there is no %s{name=%q}", metric, queue)
	return 0
}
