//go:build !solution

// Package metric computes its numbers at the time of the scrape.
package metric

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Collector has two metrics of each TDSet for Prometheus. They are right at the time of the scrape,
// no matter how long ago Reconcile was called:
//
//	tdset_until_next_transition_seconds  time until the active window changes (schedule.At)
//	tdset_not_as_scheduled_seconds       how long it hasn't been as scheduled
//	                                     (notAsScheduledSince), or 0 if it is
//
// Both are gauges with just the labels namespace and name. So a TDSet has two series, which stay
// the same all its life. If there is no number, there is no series: a schedule that never changes,
// or whose zone is unknown, has no next transition. A TDSet that is gone or being deleted has no
// series at all.
//
// A scrape reads the cache at most once, no matter how many TDSets there are. The cache may not
// answer: a read waits until the cache is filled from the API server, or until the context ends. So
// Collect returns within 5 seconds, with or without these metrics, and leaves nothing running. It
// never makes the scrape fail, because all other metrics of the program are in the same response.
//
// Describe makes no request, because a collector is registered before the cache is started. It
// describes both metrics.
type Collector struct {
	cache          client.Reader
	clock          clock.PassiveClock
	untilNext      *prometheus.GaugeVec
	notAsScheduled *prometheus.GaugeVec
}

var _ prometheus.Collector = &Collector{}

// NewCollector returns a Collector of the TDSets in a cache. It takes the time from clock.
func NewCollector(cache client.Reader, clock clock.PassiveClock) *Collector {
	// YOUR WORK: fix the names, labels and units.
	return &Collector{
		cache: cache,
		clock: clock,
		untilNext: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tdset_untilNextTransition_minutes",
			Help: helpUntilNext,
		}, []string{"name", "activeWindow"}),
		notAsScheduled: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tdset_not_as_scheduled_gauge",
			Help: helpNotAsScheduled,
		}, []string{"name", "since"}),
	}
}

// Describe sends the descriptions of both metrics.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	c.untilNext.Describe(descs)
	c.notAsScheduled.Describe(descs)
}

// Collect sends the metrics of every TDSet.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	// YOUR WORK: how old are these numbers?
	c.untilNext.Collect(metrics)
	c.notAsScheduled.Collect(metrics)
}

// Observe is called by Reconcile, at its end. Delete it when Collect no longer needs it.
func (c *Collector) Observe(tdset *schedulev2.TDSet) {
	now := c.clock.Now()
	if next := tdset.Status.NextTransitionTime; next != nil {
		c.untilNext.WithLabelValues(tdset.Name, tdset.Status.ActiveWindow).Set(next.Sub(now).Minutes())
	}
	since := notAsScheduledSince(tdset, now)
	if since.IsZero() {
		since = now
	}
	c.notAsScheduled.WithLabelValues(tdset.Name, since.Format(time.RFC3339)).Set(now.Sub(since).Minutes())
}
