// The status, and the Events that `kubectl describe` shows for a Foo. Programs should read the
// status instead, because the API server deletes Events, by default after an hour.

package main

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
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
	samplecontrollerv1alpha1ac "example.com/operators/05-controller-runtime/pkg/generated/applyconfiguration/samplecontroller/v1alpha1"
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

// updateStatus writes foo's status if it has changed. failure is the error from the work on foo, or
// nil.
func (r *FooReconciler) updateStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment, failure error) error {
	status := desiredStatus(foo, deployment, failure, metav1.Now())
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	// Send only the condition that this controller owns, so others keep theirs. The resourceVersion
	// makes the API server refuse (409) a status that was computed from an old spec.
	ready := meta.FindStatusCondition(status.Conditions, conditionReady)
	desired := samplecontrollerv1alpha1ac.Foo(foo.Name, foo.Namespace).
		WithUID(foo.UID).
		WithResourceVersion(foo.ResourceVersion).
		WithStatus(samplecontrollerv1alpha1ac.FooStatus().
			WithReplicas(status.Replicas).
			WithSelector(status.Selector).
			WithAvailableReplicas(status.AvailableReplicas).
			WithObservedGeneration(status.ObservedGeneration).
			WithConditions(metav1ac.Condition().
				WithType(ready.Type).
				WithStatus(ready.Status).
				WithObservedGeneration(ready.ObservedGeneration).
				WithLastTransitionTime(ready.LastTransitionTime).
				WithReason(ready.Reason).
				WithMessage(ready.Message)))
	if err := r.Status().Apply(ctx, desired, fieldOwner, client.ForceOwnership); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	r.recordEvent(foo, ready)
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
		r.Recorder.Eventf(foo, nil, corev1.EventTypeWarning, ready.Reason, "Sync", "%s", ready.Message)
	}
}
