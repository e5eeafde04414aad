// The controller's own metrics. controller-runtime serves them together with the ones that it has
// for every controller.

package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

var (
	newMetric = promauto.With(metrics.Registry) // makes metrics that are served

	gaugeValue = map[bool]float64{true: 1, false: 0} // of a gauge that is on or off

	desiredReplicas   = newGauge("tdset_desired_replicas", "Replicas that the TDSet's schedule asks for now.")
	availableReplicas = newGauge("tdset_available_replicas", "Replicas of the TDSet's Deployment that are available.")
	degraded          = newGauge("tdset_degraded", "1 if the TDSet's condition Degraded is True, otherwise 0.")

	transitions = newMetric.NewCounterVec(prometheus.CounterOpts{
		Name: "tdset_transitions_total",
		Help: "How often another window of the TDSet became active, or none any more.",
	}, []string{"namespace", "name"})
	transitionLag = newMetric.NewHistogram(prometheus.HistogramOpts{
		Name:    "tdset_transition_lag_seconds",
		Help:    "Time from a transition's instant until its Deployment was scaled and its status says so.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600, 3600},
	})
)

// newGauge makes a gauge with a value for each TDSet.
func newGauge(name, help string) *prometheus.GaugeVec {
	return newMetric.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"namespace", "name"})
}

// measure records how many replicas tdset wants and, if known, how many it has: none if the
// Deployment is missing or belongs to someone else.
func measure(tdset *schedulev2.TDSet, seen observation) {
	desiredReplicas.WithLabelValues(tdset.Namespace, tdset.Name).Set(float64(seen.want()))
	if seen.unknown() {
		return
	}
	var has int32
	if seen.deployment != nil && metav1.IsControlledBy(seen.deployment, tdset) {
		has = seen.deployment.Status.AvailableReplicas
	}
	availableReplicas.WithLabelValues(tdset.Namespace, tdset.Name).Set(float64(has))
}

// measureTransition records a transition if the one that tdset's status announced has come by now.
// It has a lag only if the Deployment was scaled.
func measureTransition(tdset *schedulev2.TDSet, seen observation, now time.Time) {
	announced := tdset.Status.NextTransitionTime
	if announced == nil || now.Before(announced.Time) || tdset.Status.ObservedGeneration != tdset.Generation {
		return
	}
	transitions.WithLabelValues(tdset.Namespace, tdset.Name).Inc()
	if seen.deployment != nil && controls(tdset, seen.deployment) && replicasOf(seen.deployment) == seen.want() {
		transitionLag.Observe(now.Sub(announced.Time).Seconds())
	}
}

// forget drops the metrics of a TDSet that is gone. Otherwise they would be reported forever.
func forget(key types.NamespacedName) {
	for _, metric := range []interface{ DeleteLabelValues(...string) bool }{desiredReplicas, availableReplicas, degraded, transitions} {
		metric.DeleteLabelValues(key.Namespace, key.Name)
	}
}
