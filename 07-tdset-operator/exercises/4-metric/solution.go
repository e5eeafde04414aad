//go:build solution

// Package metric computes its numbers at the time of the scrape.
package metric

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// scrapeTimeout is how long a scrape waits for the cache. By default, Prometheus waits 10 seconds
// for the whole response.
const scrapeTimeout = 2 * time.Second

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
	untilNext      *prometheus.Desc
	notAsScheduled *prometheus.Desc
}

var _ prometheus.Collector = &Collector{}

// NewCollector returns a Collector of the TDSets in a cache. It takes the time from clock.
func NewCollector(cache client.Reader, clock clock.PassiveClock) *Collector {
	labels := []string{"namespace", "name"}
	return &Collector{
		cache:          cache,
		clock:          clock,
		untilNext:      prometheus.NewDesc("tdset_until_next_transition_seconds", helpUntilNext, labels, nil),
		notAsScheduled: prometheus.NewDesc("tdset_not_as_scheduled_seconds", helpNotAsScheduled, labels, nil),
	}
}

// Describe sends the descriptions of both metrics.
func (c *Collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.untilNext
	descs <- c.notAsScheduled
}

// Collect sends the metrics of every TDSet. It keeps nothing from one scrape to the next, so
// nothing goes stale, and two scrapes can run at once.
func (c *Collector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var tdsets schedulev2.TDSetList
	if err := c.cache.List(ctx, &tdsets); err != nil {
		// A prometheus.NewInvalidMetric would report it too, but turn the whole response into an
		// error 500.
		ctrl.Log.Error(err, "Omitting the metrics of TDSets from this scrape")
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
