package main

// The metrics of a work queue. client-go measures, and a MetricsProvider says where the numbers go.
// The names and labels are those of Kubernetes' own controllers
// (k8s.io/component-base/metrics/prometheus/workqueue).

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/client-go/util/workqueue"
)

// provider implements workqueue.MetricsProvider. Each queue has its own time series, with its name
// as the label.
type provider struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, work              *prometheus.HistogramVec
}

func newProvider(registry prometheus.Registerer) provider {
	metrics := promauto.With(registry)
	label := []string{"name"}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return metrics.NewGaugeVec(prometheus.GaugeOpts{Subsystem: "workqueue", Name: name, Help: help}, label)
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return metrics.NewCounterVec(prometheus.CounterOpts{Subsystem: "workqueue", Name: name, Help: help}, label)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		buckets := prometheus.ExponentialBuckets(1e-6, 10, 10) // a microsecond to 17 minutes
		return metrics.NewHistogramVec(prometheus.HistogramOpts{Subsystem: "workqueue", Name: name, Help: help, Buckets: buckets}, label)
	}
	return provider{
		depth:      gauge("depth", "Keys that are waiting for a worker."),
		adds:       counter("adds_total", "How often a key was added that wasn't waiting already."),
		latency:    histogram("queue_duration_seconds", "How long a key waited for a worker."),
		work:       histogram("work_duration_seconds", "How long a worker had a key, from Get to Done."),
		unfinished: gauge("unfinished_work_seconds", "How long the workers have had their present keys, in all."),
		longest:    gauge("longest_running_processor_seconds", "How long the slowest worker has had its present key."),
		retries:    counter("retries_total", "How often a key was added with a delay."),
	}
}

func (p provider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return p.depth.WithLabelValues(name)
}

func (p provider) NewAddsMetric(name string) workqueue.CounterMetric {
	return p.adds.WithLabelValues(name)
}

func (p provider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return p.latency.WithLabelValues(name)
}

func (p provider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.work.WithLabelValues(name)
}

func (p provider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.unfinished.WithLabelValues(name)
}

func (p provider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.longest.WithLabelValues(name)
}

func (p provider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.retries.WithLabelValues(name)
}
