//go:build !solution

// Package metric is about numbers that are worked out when somebody asks.
package metric

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// Collector has two numbers of each TDSet for Prometheus. They are right at the instant of the scrape, however long ago Reconcile
// came:
//
//	tdset_until_next_transition_seconds  until another window will be active, or none any more: by the schedule (schedule.At)
//	tdset_not_as_scheduled_seconds       for how long it isn't as scheduled: by notAsScheduledSince, and 0 if it is
//
// Both are gauges, with the labels namespace and name alone: so a TDSet has two series, the same ones all its life. What there is no
// answer to has no series: a schedule that never changes, or whose zone isn't known, has no next transition. A TDSet that is gone has
// none, nor has one that is being deleted.
//
// A scrape asks the cache, and no more than once, however many TDSets there are. The cache may have no answer: it waits until it has
// been filled by the API server, or until the context ends. So a scrape has an answer within 5 seconds, with these numbers or without
// them, and leaves nothing running. It never fails, since all other metrics of the program are on the same page.
//
// Describe asks nobody: a collector is registered before the cache is started. It says both metrics.
type Collector struct {
	cache          client.Reader
	clock          clock.PassiveClock
	untilNext      *prometheus.GaugeVec
	notAsScheduled *prometheus.GaugeVec
}

var _ prometheus.Collector = &Collector{}

// NewCollector returns a Collector of the TDSets in that cache, by that clock.
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

// Describe says which metrics there are.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	c.untilNext.Describe(descs)
	c.notAsScheduled.Describe(descs)
}

// Collect sends the numbers of every TDSet.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	// YOUR WORK: compute the numbers here, because these are as old as the last call of Observe.
	c.untilNext.Collect(metrics)
	c.notAsScheduled.Collect(metrics)
}

// Observe is called by Reconcile, at its end. Once Collect needs it no more, it can go.
func (c *Collector) Observe(tdset *schedulev1.TDSet) {
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
