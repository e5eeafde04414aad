// The status, and the Events that `kubectl describe` shows for a Foo. Programs should read the
// status instead, because the API server deletes Events, by default after an hour.

package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// errOverruled means that the API server accepted a write, but the object is as it was before.
var errOverruled = errors.New("the write was accepted but has changed nothing: does a webhook or policy revert it?")

// isRefusal reports whether retries will fail in the same way until somebody changes the Foo or the
// cluster's rules, such as a quota or an admission policy. Then the status shows the error itself,
// because users usually can't read the controller's log.
func isRefusal(err error) bool {
	return apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) ||
		errors.Is(err, errOverruled)
}

// ignoreRepeatedRefusals drops an update of a Foo that was refused before and still is. A refusal's
// message may differ each time, and the event of each status write would trigger a retry at once.
var ignoreRepeatedRefusals = predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
	return update.ObjectOld.GetGeneration() != update.ObjectNew.GetGeneration() ||
		!isRefused(update.ObjectOld) || !isRefused(update.ObjectNew)
}}

// isRefused reports whether a Foo's status says that the API server refuses a write.
func isRefused(foo client.Object) bool {
	ready := meta.FindStatusCondition(foo.(*samplecontrollerv1alpha1.Foo).Status.Conditions, conditionReady)
	return ready != nil && ready.Reason == reasonRefused
}

// syncStatus writes foo's status if it has changed. failure is the error from the work on foo, or
// nil.
func (r *FooReconciler) syncStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment, failure error) error {
	status := desiredStatus(foo, deployment, failure, metav1.Now())
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	// The patch has only the fields that change, but a list such as conditions is sent as a whole. So
	// include the resourceVersion, which makes the API server refuse (409) a patch made from an
	// outdated Foo. Otherwise the patch could remove another controller's condition.
	updated := foo.DeepCopy()
	updated.Status = status
	patch := client.MergeFromWithOptions(foo, client.MergeFromWithOptimisticLock{})
	if err := r.Status().Patch(ctx, updated, patch, fieldOwner); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	r.recordEvent(foo, meta.FindStatusCondition(status.Conditions, conditionReady))
	return nil
}

// recordEvent records an Event if Ready has a new reason that users should hear about. Call it only
// after the status write: the write would have failed if foo were outdated, so nobody has recorded
// this Event before.
func (r *FooReconciler) recordEvent(foo *samplecontrollerv1alpha1.Foo, ready *metav1.Condition) {
	before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady)
	switch {
	case before != nil && before.Reason == ready.Reason: // nothing new
	case ready.Reason == reasonAvailable:
		r.Recorder.Eventf(foo, nil, corev1.EventTypeNormal, "Synced", "Sync", "%s", ready.Message)
	case ready.Reason == reasonResourceExists, ready.Reason == reasonRefused:
		r.Recorder.Eventf(foo, nil, corev1.EventTypeWarning, ready.Reason, "Sync", "%.1000s", ready.Message) // at most 1 KiB
	}
}
