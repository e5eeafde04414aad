//go:build !solution

// Package resync is about a handler that is called again, at every resync, with objects that haven't changed.
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

// Controller keeps Deployments at the replicas that their Foos ask for, and says in each Foo's status how far they are.
type Controller struct {
	Deployments appslisters.DeploymentLister // reads the informer's cache
	Clock       clock.PassiveClock

	// The requests: the first two are writes, the third records a Kubernetes event.
	Scale        func(ctx context.Context, deployment *appsv1.Deployment, replicas int32) error
	UpdateStatus func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error
	Event        func(foo *samplecontrollerv1alpha1.Foo, reason, message string)
}

// OnUpdate is called by the informer of Foos when a Foo has changed, with the old state and the new one. At a resync it is
// called with every Foo, changed or not.
//
// It sends only what says something new. There is an event only when the status has been written and Ready has another reason
// than before. Like everything from a cache, foo is not to be changed.
func (c *Controller) OnUpdate(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) error {
	// 1. The Deployment. One write a call: its event brings us back.
	want := ptr.Deref(foo.Spec.Replicas, 1)
	deployment, err := c.Deployments.Deployments(foo.Namespace).Get(foo.Spec.DeploymentName)
	switch {
	case apierrors.IsNotFound(err), err == nil && !metav1.IsControlledBy(deployment, foo):
		return nil // making one, and saying that the name is taken, are left out here
	case err != nil:
		return fmt.Errorf("get Deployment %s: %w", foo.Spec.DeploymentName, err)
	case ptr.Deref(deployment.Spec.Replicas, 1) != want:
		if err := c.Scale(ctx, deployment, want); err != nil {
			return fmt.Errorf("scale Deployment %s: %w", deployment.Name, err)
		}
		return nil
	}

	// YOUR WORK: everything below is sent on every call.

	// 2. The status.
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

	// 3. The event.
	c.Event(foo, ready.Reason, ready.Message)
	return nil
}

// readyCondition says whether all the wanted replicas are available, and that this became so now.
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
