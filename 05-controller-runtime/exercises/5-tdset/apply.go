// The apply configuration of a TDSet's status.

package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	schedulev1ac "example.com/operators/05-controller-runtime/exercises/5-tdset/pkg/generated/applyconfiguration/schedule/v1"
)

// statusToApply returns status as an apply configuration. Our own condition is the only one in it:
// the others stay without being sent, and would become ours if we sent them.
func statusToApply(status TDSetStatus) *schedulev1ac.TDSetStatusApplyConfiguration {
	ready := meta.FindStatusCondition(status.Conditions, conditionReady)
	return schedulev1ac.TDSetStatus().
		WithObservedGeneration(status.ObservedGeneration).
		WithConditions(metav1ac.Condition().
			WithType(ready.Type).
			WithStatus(ready.Status).
			WithObservedGeneration(ready.ObservedGeneration).
			WithLastTransitionTime(ready.LastTransitionTime).
			WithReason(ready.Reason).
			WithMessage(ready.Message))
}
