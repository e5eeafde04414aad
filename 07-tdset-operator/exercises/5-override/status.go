// The type of an override, and the status of a TDSet with one. You don't need to change anything
// here.

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

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// Annotation is the annotation of a TDSet for an override, such as "6 until 2026-01-01T22:00:00Z".
const Annotation = "schedule.rs/override"

// Override is a number of replicas that applies until an instant, whatever the schedule says.
type Override struct {
	Replicas int32 // 0 to maxReplicas
	Until    time.Time
}

const maxReplicas = 1000

var annotationPath = field.NewPath("metadata", "annotations").Key(Annotation)

// format tells the author of an invalid override what a valid one looks like.
const format = `must be such as "6 until 2026-01-01T22:00:00Z": replicas, 0 to 1000, and an instant with its offset from UTC`

// State is what a TDSet asks for at an instant.
type State struct {
	// State is the schedule's. While an override is in force, two fields differ: Replicas is the
	// override's, and Next is when the active window changes or the override ends, whichever comes
	// first.
	schedule.State
	// Overridden reports whether an override is in force.
	Overridden bool
}

// The condition, its reasons and its messages.
const (
	conditionOverridden = "Overridden"

	reasonInForce     = "InForce"
	reasonNotInForce  = "NotInForce"
	reasonInvalid     = "Invalid"
	messageInForce    = "Until %s, whatever the schedule says"
	messageNotInForce = "It is as scheduled"
)

// desiredStatus returns what tdset's status should say at the time now. invalid is the error of
// Parse, or nil.
func desiredStatus(tdset *schedulev2.TDSet, state State, override *Override, invalid error, now time.Time) schedulev2.TDSetStatus {
	status := schedulev2.TDSetStatus{
		ObservedGeneration: tdset.Generation,
		ActiveWindow:       schedule.Name(&tdset.Spec, state.Window),
		DesiredReplicas:    &state.Replicas,
		Conditions:         slices.Clone(tdset.Status.Conditions),
	}
	if !state.Next.IsZero() {
		status.NextTransitionTime = new(metav1.NewTime(state.Next).Rfc3339Copy()) // without fractions of a second, as it is stored
	}
	condition := metav1.Condition{Type: conditionOverridden, ObservedGeneration: tdset.Generation}
	condition.LastTransitionTime = metav1.NewTime(now) // SetStatusCondition keeps the old one unless Status changes
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

// writeStatus writes status, unless tdset has it already. It doesn't change tdset. If tdset isn't
// the latest version, it returns an error.
func (r *Reconciler) writeStatus(ctx context.Context, tdset *schedulev2.TDSet, status schedulev2.TDSetStatus) error {
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
