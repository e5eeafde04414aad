// The controller's own metrics, as they are served.

package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

func TestTransitionsAndLag(t *testing.T) {
	tdset := aTDSet()
	c := newCluster(t, tdset)
	forget(web) // of other tests
	lags, lag := served("tdset_transition_lag_seconds")
	for _, step := range []struct {
		what            string
		do              func()
		wantTransitions float64
		wantLag         time.Duration // of a transition, if this step is one
	}{
		{"the TDSet is made: its window was active before", func() {}, 0, 0},
		{"its Deployment becomes available", func() { c.becomesAvailable(c.deployment()) }, 0, 0},
		{"its window ends", func() { c.clock.now = at(17, 0).Add(250 * time.Millisecond) }, 1, 250 * time.Millisecond},
		{"all is there", func() { c.becomesAvailable(c.deployment()) }, 1, 0},
		{"the controller looks again", func() { c.clock.now = at(18, 0) }, 1, 0},
		{"a user makes another window active: that is no transition of time", func() {
			c.change(func(spec *schedulev1.TDSetSpec) { spec.SchedulingConfig[0].EndTime = 19 })
		}, 1, 0},
		{"the controller comes back after two boundaries have passed", func() { c.clock.now = at(34, 0) }, 2, 15 * time.Hour},
		{"a Pod is lost", func() { c.put(deploymentOf(tdset, withPods(4))) }, 2, 0},
		{"a user changes the schedule at the boundary", func() {
			c.clock.now = at(43, 0)
			c.change(func(spec *schedulev1.TDSetSpec) { spec.DefaultReplica = 1 })
		}, 2, 0},
	} {
		step.do()
		c.settle()
		if got, _ := served("tdset_transitions_total"); got != step.wantTransitions {
			t.Errorf("%s: %v transitions, want %v", step.what, got, step.wantTransitions)
		}
		nowLags, nowLag := served("tdset_transition_lag_seconds")
		if step.wantLag > 0 {
			lags, lag = lags+1, lag+step.wantLag.Seconds()
		}
		if nowLags != lags || nowLag-lag > 1e-6 || lag-nowLag > 1e-6 {
			t.Errorf("%s: %v lags, together %v s, want %v and %v s", step.what, nowLags, nowLag, lags, lag)
		}
	}
}

// The window is another one, whether its Deployment could be scaled or not. But then there is
// nothing to say about how punctual that was.
func TestATransitionThatIsRefusedHasNoLag(t *testing.T) {
	c := newCluster(t, aTDSet())
	forget(web)
	c.settle()
	lags, _ := served("tdset_transition_lag_seconds")
	c.clock.now = at(17, 0)
	c.refuseNext("apply deployments", errNotNow)

	_, _ = c.sync()

	if transitions, _ := served("tdset_transitions_total"); transitions != 1 {
		t.Errorf("%v transitions, want 1", transitions)
	}
	if now, _ := served("tdset_transition_lag_seconds"); now != lags {
		t.Errorf("%v lags were noted, want none", now-lags)
	}
}

// With a queue and timers, the lag is what it takes to wake up: less than a second, also when a day
// is long.
func TestTheLagOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forget(web)
		lags, lag := served("tdset_transition_lag_seconds")
		c := newCluster(t, aTDSet(in("Europe/Berlin")))
		midnight := c.beginAt("Europe/Berlin", "2026-10-25 00:00:00")
		c.run(c.TDSetReconciler)
		c.waitUntil(midnight.AddDate(0, 0, 1).Add(-time.Second))

		nowLags, nowLag := served("tdset_transition_lag_seconds")
		if transitions, _ := served("tdset_transitions_total"); transitions != 3 || nowLags-lags != 3 || nowLag-lag >= 3 {
			t.Errorf("%v transitions, and %v lags of %v s in all, want 3, of less than a second each", transitions, nowLags-lags, nowLag-lag)
		}
	})
}

func TestReplicasInMetrics(t *testing.T) {
	tdset := aTDSet()
	c := newCluster(t, tdset)
	forget(web)
	for _, step := range []struct {
		what string
		do   func()
		want map[string]float64
	}{
		{"the TDSet is made", func() {}, map[string]float64{"desired": 5, "observed": 0}},
		{"Pods come up", func() { c.put(deploymentOf(tdset, withPods(3))) }, map[string]float64{"desired": 5, "observed": 3}},
		{"all are there", func() { c.put(deploymentOf(tdset, withPods(5))) }, map[string]float64{"desired": 5, "observed": 5}},
		{"the window ends", func() { c.clock.now = at(17, 0) }, map[string]float64{"desired": 3, "observed": 5, "transitions": 1}},
		{"its schedule makes no sense: nobody knows what it asks for", func() {
			c.change(func(spec *schedulev1.TDSetSpec) { spec.TimeZone = "Local" })
		}, map[string]float64{}},
		{"it does again", func() {
			c.change(func(spec *schedulev1.TDSetSpec) { spec.TimeZone = "UTC" })
		}, map[string]float64{"desired": 3, "observed": 5}},
		{"the TDSet is deleted, and drained", func() {
			must(t, c.server.Delete(t.Context(), c.tdset()))
			c.put(deploymentOf(tdset, scaledTo(0), withPods(0)))
		}, map[string]float64{}},
	} {
		step.do()
		c.settle()
		got := map[string]float64{}
		for of, name := range map[string]string{
			"desired": "tdset_desired_replicas", "observed": "tdset_observed_replicas", "transitions": "tdset_transitions_total",
		} {
			if find(name) != nil {
				got[of], _ = served(name)
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: metrics (-want +got):\n%s", step.what, diff)
		}
	}
}

// There are none where there is no Deployment, or none of the TDSet's own, whatever was there
// before.
func TestReplicasThatAreNotThere(t *testing.T) {
	tdset := aTDSet(known)
	for name, change := range map[string]func(c *cluster){
		"the Deployment is gone, and can't be made again": func(c *cluster) {
			c.remove(deploymentOf(tdset))
			c.refuseNext("apply deployments", errNotNow)
		},
		"somebody else's has the name": func(c *cluster) { c.put(deploymentOf(tdset, withPods(5), unowned)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, tdset, deploymentOf(tdset, withPods(5)))
			c.settle()
			change(c)

			_, _ = c.sync()

			if desired, _ := served("tdset_desired_replicas"); desired != 5 {
				t.Errorf("%v replicas are desired, want 5", desired)
			}
			if observed, _ := served("tdset_observed_replicas"); observed != 0 {
				t.Errorf("%v replicas are observed, want 0", observed)
			}
		})
	}
}

// served returns what is served of the TDSet under that name: a number; of a histogram, how many
// numbers there were, and their sum.
func served(name string) (value, sum float64) {
	metric := find(name)
	switch {
	case metric == nil:
		return 0, 0
	case metric.Histogram != nil:
		return float64(metric.Histogram.GetSampleCount()), metric.Histogram.GetSampleSum()
	case metric.Counter != nil:
		return metric.Counter.GetValue(), 0
	}
	return metric.Gauge.GetValue(), 0
}

// find returns the metric of that name that is about our TDSet, or about all of them.
func find(name string) *dto.Metric {
	families, err := metrics.Registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.Metric {
			labels := map[string]string{}
			for _, label := range metric.Label {
				labels[label.GetName()] = label.GetValue()
			}
			if len(labels) == 0 || labels["namespace"] == web.Namespace && labels["name"] == web.Name {
				return metric
			}
		}
	}
	return nil
}
