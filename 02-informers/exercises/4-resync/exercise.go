//go:build !solution

// Package resync is about a handler that every resync calls, with objects that haven't changed.
package resync

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// Controller scales Deployments to the replicas that their Foos ask for, and reports the progress
// in each Foo's status.
type Controller struct {
	Deployments appslisters.DeploymentLister // reads the informer's cache
	Clock       clock.PassiveClock

	// The requests. The first two are writes, and the third records a Kubernetes Event.
	Scale        func(ctx context.Context, deployment *appsv1.Deployment, replicas int32) error
	UpdateStatus func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error
	Event        func(foo *samplecontrollerv1alpha1.Foo, reason, message string)
}

// OnUpdate is the update handler of the informer of Foos. It gets the old and the new state of a
// Foo that has changed. At a resync, it is called for every Foo, changed or not.
//
// It writes the status only if it has changed. LastTransitionTime is when the condition Ready last
// became true or false. It records an Event only after it has written a status in which Ready has a
// new reason. foo belongs to the cache, so OnUpdate never changes it.
func (c *Controller) OnUpdate(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) error {
	// 1. Scale the Deployment. This write causes an event, so the status is left to the next call.
	want := ptr.Deref(foo.Spec.Replicas, 1)
	deployment, err := c.Deployments.Deployments(foo.Namespace).Get(foo.Spec.DeploymentName)
	switch {
	case apierrors.IsNotFound(err), err == nil && !metav1.IsControlledBy(deployment, foo):
		return nil // to keep this short, it neither creates a Deployment nor reports a taken name
	case err != nil:
		return fmt.Errorf("get Deployment %s: %w", foo.Spec.DeploymentName, err)
	case ptr.Deref(deployment.Spec.Replicas, 1) != want:
		if err := c.Scale(ctx, deployment, want); err != nil {
			return fmt.Errorf("scale Deployment %s: %w", deployment.Name, err)
		}
		return nil
	}

	// YOUR WORK: each call sends both the status and the Event below.

	// 2. Write the status.
	ready := readyCondition(want, deployment.Status.AvailableReplicas, foo.Generation, metav1.NewTime(c.Clock.Now()))
	updated := *foo
	updated.Status = samplecontrollerv1alpha1.FooStatus{
		AvailableReplicas:  deployment.Status.AvailableReplicas,
		ObservedGeneration: foo.Generation,
		Conditions:         []metav1.Condition{ready},
	}
	if err := c.UpdateStatus(ctx, &updated); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}

	// 3. Record the Event.
	c.Event(foo, ready.Reason, ready.Message)
	return nil
}

// readyCondition returns the condition Ready, which is true if at least the desired number of
// replicas is available. Its LastTransitionTime is now.
func readyCondition(want, available int32, generation int64, now metav1.Time) metav1.Condition {
	ready := metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionFalse,
		Reason:             "Progressing",
		Message:            fmt.Sprintf("%d of %d replicas are available", available, want),
		ObservedGeneration: generation,
		LastTransitionTime: now,
	}
	if available >= want {
		ready.Status, ready.Reason = metav1.ConditionTrue, "Available"
	}
	return ready
}
