// The help texts of the metrics, and since when a TDSet hasn't been as scheduled. You don't need to
// change anything here.

package metric

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

const (
	helpUntilNext      = "Time until the active window of the TDSet changes."
	helpNotAsScheduled = "Time since the TDSet last matched its schedule, or 0 if it matches now."
)

// asScheduled has the conditions of a TDSet that matches its schedule.
var asScheduled = map[string]metav1.ConditionStatus{
	"Available":   metav1.ConditionTrue,
	"Progressing": metav1.ConditionFalse,
	"Degraded":    metav1.ConditionFalse,
}

// notAsScheduledSince returns since when tdset hasn't matched its schedule: according to its
// conditions, or since its creation if it has none yet. If it matches, it returns the zero time.
//
// Conditions say what was true when they were written. If the controller hangs, they may say
// forever that all is well. But then the transition that it has announced never happens. So once
// that time has passed, the TDSet counts as not as scheduled.
func notAsScheduledSince(tdset *schedulev2.TDSet, now time.Time) (since time.Time) {
	wrongSince := func(instant metav1.Time) {
		if since.IsZero() || instant.Time.Before(since) {
			since = instant.Time
		}
	}
	for kind, want := range asScheduled {
		condition := meta.FindStatusCondition(tdset.Status.Conditions, kind)
		switch {
		case condition == nil:
			wrongSince(tdset.CreationTimestamp)
		case condition.Status != want:
			wrongSince(condition.LastTransitionTime)
		}
	}
	if announced := tdset.Status.NextTransitionTime; announced != nil && announced.Time.Before(now) {
		wrongSince(*announced)
	}
	return since
}
