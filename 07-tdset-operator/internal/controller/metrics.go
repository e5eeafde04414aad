// The controller's own metrics, beside those that controller-runtime has of every controller. They are served where those are.

package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "example.com/operators/07-tdset-operator/api/v1"
)

var (
	desiredReplicas = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tdset_desired_replicas",
		Help: "Replicas that the TDSet's schedule asks for now.",
	}, []string{"namespace", "name"})
	observedReplicas = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tdset_observed_replicas",
		Help: "Replicas of the TDSet's Deployment that are available.",
	}, []string{"namespace", "name"})
	transitions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tdset_transitions_total",
		Help: "How often another window of the TDSet became active, or none any more.",
	}, []string{"namespace", "name"})
	transitionLag = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "tdset_transition_lag_seconds",
		Help:    "Time from a transition's instant until its Deployment was scaled and its status says so.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600, 3600},
	})
)

func init() {
	metrics.Registry.MustRegister(desiredReplicas, observedReplicas, transitions, transitionLag)
}

// measure notes how many replicas tdset wants and has: none, if there is no Deployment, or it isn't tdset's.
func measure(tdset *v1.TDSet, want int32, deployment *appsv1.Deployment) {
	var has int32
	if deployment != nil && metav1.IsControlledBy(deployment, tdset) {
		has = deployment.Status.AvailableReplicas
	}
	desiredReplicas.WithLabelValues(tdset.Namespace, tdset.Name).Set(float64(want))
	observedReplicas.WithLabelValues(tdset.Namespace, tdset.Name).Set(float64(has))
}

// measureTransition notes a transition, if that is what has changed tdset's status at the time now: the one that it announced has come.
// It has a lag only if its Deployment was scaled.
func measureTransition(tdset *v1.TDSet, seen observation, now time.Time) {
	announced := tdset.Status.NextTransitionTime
	if announced == nil || now.Before(announced.Time) || tdset.Status.ObservedGeneration != tdset.Generation {
		return
	}
	transitions.WithLabelValues(tdset.Namespace, tdset.Name).Inc()
	if seen.deployment != nil && controls(tdset, seen.deployment) && replicasOf(seen.deployment) == seen.want() {
		transitionLag.Observe(now.Sub(announced.Time).Seconds())
	}
}

// forget drops the numbers of a TDSet that is gone. Else they would be reported for ever, and take memory.
func forget(key types.NamespacedName) {
	for _, numbers := range []interface{ DeleteLabelValues(...string) bool }{desiredReplicas, observedReplicas, transitions} {
		numbers.DeleteLabelValues(key.Namespace, key.Name)
	}
}
