// The controller's own metrics, as they are served.

package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

func TestTransitionsAndLag(t *testing.T) {
	tdset := aTDSet()
	c := newCluster(t, tdset)
	forget(web) // metrics of other tests
	lags, lag := served("tdset_transition_lag_seconds")
	for _, step := range []struct {
		what            string
		do              func()
		wantTransitions float64
		wantLag         time.Duration // if this step is a transition
	}{
		{"the TDSet is created during its window", func() {}, 0, 0},
		{"its Deployment becomes available", func() { c.becomesAvailable(c.deployment()) }, 0, 0},
		{"its window ends", func() { c.clock.now = at(17, 0).Add(250 * time.Millisecond) }, 1, 250 * time.Millisecond},
		{"the rollout is complete", func() { c.becomesAvailable(c.deployment()) }, 1, 0},
		{"a reconcile during the window", func() { c.clock.now = at(18, 0) }, 1, 0},
		{"a user makes another window active, which is no transition", func() {
			c.change(func(spec *schedulev2.TDSetSpec) { spec.Windows[0].End = "19:00" })
		}, 1, 0},
		{"a reconcile after two transitions", func() { c.clock.now = at(34, 0) }, 2, 15 * time.Hour},
		{"a Pod is lost", func() { c.put(deploymentOf(tdset, withPods(4))) }, 2, 0},
		{"a user changes the schedule at a transition", func() {
			c.clock.now = at(43, 0)
			c.change(func(spec *schedulev2.TDSetSpec) { spec.DefaultReplicas = 1 })
		}, 2, 0},
	} {
		step.do()
		c.settle()
		if got, _ := served("tdset_transitions_total"); got != step.wantTransitions {
			t.Errorf("%s: got %v transitions, want %v", step.what, got, step.wantTransitions)
		}
		nowLags, nowLag := served("tdset_transition_lag_seconds")
		if step.wantLag > 0 {
			lags, lag = lags+1, lag+step.wantLag.Seconds()
		}
		if nowLags != lags || nowLag-lag > 1e-6 || lag-nowLag > 1e-6 {
			t.Errorf("%s: got %v lags of %v s in total, want %v of %v s", step.what, nowLags, nowLag, lags, lag)
		}
	}
}

// A transition counts even if the API server refuses to scale the Deployment. But then it has no
// lag.
func TestARefusedTransitionHasNoLag(t *testing.T) {
	c := newCluster(t, aTDSet())
	forget(web)
	c.settle()
	lags, _ := served("tdset_transition_lag_seconds")
	c.clock.now = at(17, 0)
	c.refuseNext("apply deployments", errNotNow)

	_, _ = c.sync()

	if transitions, _ := served("tdset_transitions_total"); transitions != 1 {
		t.Errorf("got %v transitions, want 1", transitions)
	}
	if now, _ := served("tdset_transition_lag_seconds"); now != lags {
		t.Errorf("got %v lags, want none", now-lags)
	}
}

// The gauges follow the TDSet. Those of the schedule exist only while it is valid, and none outlives
// the TDSet.
func TestGauges(t *testing.T) {
	tdset := aTDSet()
	c := newCluster(t, tdset)
	forget(web)
	for _, step := range []struct {
		what string
		do   func()
		want map[string]float64
	}{
		{"the TDSet is created", func() {}, map[string]float64{"desired": 5, "observed": 0, "degraded": 0}},
		{"some Pods are available", func() { c.put(deploymentOf(tdset, withPods(3))) }, map[string]float64{"desired": 5, "observed": 3, "degraded": 0}},
		{"all Pods are available", func() { c.put(deploymentOf(tdset, withPods(5))) }, map[string]float64{"desired": 5, "observed": 5, "degraded": 0}},
		{"the window ends", func() { c.clock.now = at(17, 0) }, map[string]float64{"desired": 3, "observed": 5, "degraded": 0, "transitions": 1}},
		{"somebody else's Deployment has the name", func() { c.put(deploymentOf(tdset, withPods(5), unowned)) }, map[string]float64{"desired": 3, "observed": 0, "degraded": 1, "transitions": 1}},
		{"the name is free again", func() { c.put(deploymentOf(tdset, withPods(5))) }, map[string]float64{"desired": 3, "observed": 5, "degraded": 0, "transitions": 1}},
		{"the schedule is invalid", func() {
			c.change(func(spec *schedulev2.TDSetSpec) { spec.TimeZone = "Local" })
		}, map[string]float64{"degraded": 1}},
		{"the schedule is corrected", func() {
			c.change(func(spec *schedulev2.TDSetSpec) { spec.TimeZone = "UTC" })
		}, map[string]float64{"desired": 3, "observed": 5, "degraded": 0}},
		{"the TDSet is deleted, and drained", func() {
			must(t, c.server.Delete(t.Context(), c.tdset()))
			c.put(deploymentOf(tdset, scaledTo(0), withPods(0)))
		}, map[string]float64{}},
	} {
		step.do()
		c.settle()
		got := map[string]float64{}
		for of, name := range map[string]string{
			"desired": "tdset_desired_replicas", "observed": "tdset_available_replicas",
			"degraded": "tdset_degraded", "transitions": "tdset_transitions_total",
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

// The schedule is known even if the Deployment isn't.
func TestReplicasInMetricsAfterAFailure(t *testing.T) {
	tdset := aTDSet(settled)
	c := newCluster(t, tdset, deploymentOf(tdset, withPods(5)))
	c.settle()
	c.clock.now = at(17, 0)
	c.refuseNext("get deployments", errDiskFull)

	_, _ = c.sync()

	desired, _ := served("tdset_desired_replicas")
	observed, _ := served("tdset_available_replicas")
	if desired != 3 || observed != 5 {
		t.Errorf("got %v desired and %v observed replicas, want 3, and 5 as before", desired, observed)
	}
}

// served returns the TDSet's value of a metric. For a histogram, it returns the count and the sum.
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

// find returns the metric with that name that is about our TDSet, or about all TDSets.
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
