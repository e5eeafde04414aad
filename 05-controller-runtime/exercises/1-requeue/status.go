// The status of a Foo. You don't need to change anything here.

package requeue

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// reasonRefused is the reason if Ready is False because the registry will never give out the name.
// All other reasons are a claim's State.
const reasonRefused = "Refused"

// setReady writes the reason into the Foo's condition Ready, unless it is there already.
func (r *Reconciler) setReady(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, reason string) error {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: reason, ObservedGeneration: foo.Generation}
	if reason == string(Registered) {
		ready.Status = metav1.ConditionTrue
	}
	if !meta.SetStatusCondition(&foo.Status.Conditions, ready) {
		return nil
	}
	if err := r.Status().Update(ctx, foo); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}
