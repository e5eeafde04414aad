// What users of Prometheus read of the numbers, and since when a TDSet isn't as scheduled. Given: there is nothing to do here.

package metric

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

const (
	helpUntilNext      = "Time until another window of the TDSet's schedule will be active, or none any more."
	helpNotAsScheduled = "For how long the TDSet isn't as its schedule wants it: 0 if it is."
)

// asScheduled is what the conditions of a TDSet say that is as its schedule wants it.
var asScheduled = map[string]metav1.ConditionStatus{
	"Available":   metav1.ConditionTrue,
	"Progressing": metav1.ConditionFalse,
	"Degraded":    metav1.ConditionFalse,
}

// notAsScheduledSince returns since when tdset isn't as its schedule wants it: by its conditions, or since it was made, if it has none
// yet. The zero time: it is.
//
// Conditions say what was seen when they were written. Those of a controller that hangs say forever that all is well. The transition
// that it has announced doesn't come, though: so that counts as well, once it is over.
func notAsScheduledSince(tdset *schedulev1.TDSet, now time.Time) (since time.Time) {
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
