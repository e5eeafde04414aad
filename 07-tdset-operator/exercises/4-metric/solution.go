//go:build solution

// Package metric is about numbers that are worked out when somebody asks.
package metric

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// patience is how long a scrape waits for the cache. Prometheus waits 10 seconds for the whole page, unless it is told otherwise.
const patience = 2 * time.Second

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
	untilNext      *prometheus.Desc
	notAsScheduled *prometheus.Desc
}

var _ prometheus.Collector = &Collector{}

// NewCollector returns a Collector of the TDSets in that cache, by that clock.
func NewCollector(cache client.Reader, clock clock.PassiveClock) *Collector {
	labels := []string{"namespace", "name"}
	return &Collector{
		cache:          cache,
		clock:          clock,
		untilNext:      prometheus.NewDesc("tdset_until_next_transition_seconds", helpUntilNext, labels, nil),
		notAsScheduled: prometheus.NewDesc("tdset_not_as_scheduled_seconds", helpNotAsScheduled, labels, nil),
	}
}

// Describe says which metrics there are.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.untilNext
	descs <- c.notAsScheduled
}

// Collect sends the numbers of every TDSet. Nothing is kept from one scrape to the next, so nothing gets old, and two may come at
// once.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var tdsets schedulev1.TDSetList
	if err := c.cache.List(ctx, &tdsets); err != nil {
		// A prometheus.NewInvalidMetric would say so too, and the page would be an error 500.
		ctrl.Log.Error(err, "There are no numbers of TDSets in this scrape")
		return
	}
	now := c.clock.Now()
	for i := range tdsets.Items {
		tdset := &tdsets.Items[i]
		if !tdset.DeletionTimestamp.IsZero() {
			continue
		}
		send := func(desc *prometheus.Desc, duration time.Duration) {
			metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, duration.Seconds(), tdset.Namespace, tdset.Name)
		}
		if state, err := schedule.At(&tdset.Spec, now); err == nil && !state.Next.IsZero() {
			send(c.untilNext, state.Next.Sub(now))
		}
		since := notAsScheduledSince(tdset, now)
		if since.IsZero() {
			since = now
		}
		send(c.notAsScheduled, now.Sub(since))
	}
}
