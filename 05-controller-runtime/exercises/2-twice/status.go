// What a Foo's status says about its ConfigMap. You don't need to change anything here.

package twice

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Reasons of the condition Ready.
const (
	reasonAvailable   = "Available"
	reasonTerminating = "Terminating"
	errResourceExists = "ErrResourceExists"
)

// setReady describes observed, which may be anyone's ConfigMap, in the Foo's condition Ready. If
// nothing has changed, it writes nothing.
func (r *Reconciler) setReady(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, observed *corev1.ConfigMap) error {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, ObservedGeneration: foo.Generation}
	switch {
	case !metav1.IsControlledBy(observed, foo):
		ready.Reason = errResourceExists
		ready.Message = fmt.Sprintf("ConfigMap %q exists and is not controlled by this Foo", observed.Name)
	case !observed.DeletionTimestamp.IsZero():
		ready.Reason = reasonTerminating
		ready.Message = fmt.Sprintf("ConfigMap %q is being deleted and will be created again", observed.Name)
	default:
		ready.Status, ready.Reason = metav1.ConditionTrue, reasonAvailable
	}
	if !meta.SetStatusCondition(&foo.Status.Conditions, ready) {
		return nil
	}
	if err := r.Status().Update(ctx, foo); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}
