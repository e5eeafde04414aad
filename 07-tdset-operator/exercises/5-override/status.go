// An override as a type, and what a TDSet's status says of it. Given: there is nothing to do here.

package override

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// Annotation is the TDSet's annotation that has an override, such as "6 until 2026-01-01T22:00:00Z".
const Annotation = "schedule.rs/override"

// Override is what somebody wants until an instant, whatever the schedule says.
type Override struct {
	Replicas int32 // 0 to maxReplicas
	Until    time.Time
}

const maxReplicas = 1000

var annotationPath = field.NewPath("metadata", "annotations").Key(Annotation)

// format tells the author of an invalid override what a valid one looks like.
const format = `must be such as "6 until 2026-01-01T22:00:00Z": replicas, 0 to 1000, and an instant with its offset from UTC`

// State is what a TDSet wants at an instant.
type State struct {
	// State is the schedule's, but for two fields while there is an override in force: Replicas are the override's, and Next is when
	// another window will be active or the override ends, whichever comes first.
	schedule.State
	// Overridden reports whether there is one in force.
	Overridden bool
}

// The condition, and its reasons.
const (
	conditionOverridden = "Overridden"

	reasonInForce     = "InForce"
	reasonNotInForce  = "NotInForce"
	reasonInvalid     = "Invalid"
	messageInForce    = "Until %s, whatever the schedule says"
	messageNotInForce = "It is as scheduled"
)

// desiredStatus returns what tdset's status should say at the time now. invalid is what is wrong with the annotation: nil, if
// nothing is.
func desiredStatus(tdset *schedulev1.TDSet, state State, override *Override, invalid error, now time.Time) schedulev1.TDSetStatus {
	status := schedulev1.TDSetStatus{
		ObservedGeneration: tdset.Generation,
		ActiveWindow:       schedule.Name(&tdset.Spec, state.Window),
		DesiredReplicas:    &state.Replicas,
		Conditions:         slices.Clone(tdset.Status.Conditions),
	}
	if !state.Next.IsZero() {
		status.NextTransitionTime = new(metav1.NewTime(state.Next).Rfc3339Copy()) // as it will be stored: to the second
	}
	condition := metav1.Condition{Type: conditionOverridden, ObservedGeneration: tdset.Generation}
	condition.LastTransitionTime = metav1.NewTime(now) // kept as it was, unless the condition's status is another one
	switch {
	case invalid != nil:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, reasonInvalid, invalid.Error()
	case state.Overridden:
		condition.Status, condition.Reason = metav1.ConditionTrue, reasonInForce
		condition.Message = fmt.Sprintf(messageInForce, override.Until.Format(time.RFC3339))
	default:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, reasonNotInForce, messageNotInForce
	}
	meta.SetStatusCondition(&status.Conditions, condition)
	return status
}

// writeStatus writes that status, unless tdset says so already. tdset stays as it is. It returns an error if tdset isn't the latest
// there is.
func (r *Reconciler) writeStatus(ctx context.Context, tdset *schedulev1.TDSet, status schedulev1.TDSetStatus) error {
	if equality.Semantic.DeepEqual(tdset.Status, status) {
		return nil
	}
	updated := tdset.DeepCopy()
	updated.Status = status
	if err := r.Status().Update(ctx, updated); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}
