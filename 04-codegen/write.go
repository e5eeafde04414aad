// The writes: server-side apply, and a delete. The controller sends only the fields that it owns,
// with its name as the field manager. The API server merges them into the object, and remembers in
// managedFields who owns which field. An apply succeeds whatever the object looks like now, so each
// function adds a check of its own.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	samplecontrollerv1alpha1ac "example.com/operators/04-codegen/pkg/generated/applyconfiguration/samplecontroller/v1alpha1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "foo-controller"

// createDeployment expects no Deployment with that name, but an apply has no create-only option. It
// would change an existing one. But without force, it can't change another field manager's values
// (409 Conflict), and it can't change the selector of another Foo's Deployment (422 Invalid).
func (c *controller) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	options := metav1.ApplyOptions{FieldManager: fieldOwner}
	return c.kube.AppsV1().Deployments(*desired.Namespace).Apply(ctx, desired, options)
}

// updateDeployment forces the values that desired sets, even if another field manager has changed
// them. Without force, every apply after a manual kubectl scale would get 409 Conflict, and the
// scale would never be reverted. It assumes the UID: if the Deployment is gone, the apply fails
// instead of creating another one.
func (c *controller) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	return c.kube.AppsV1().Deployments(observed.Namespace).Apply(ctx, desired.WithUID(observed.UID), options)
}

// deleteDeployment assumes the UID, so it never deletes another Deployment that has taken the name.
// If the Deployment is gone already, there is nothing to do.
func (c *controller) deleteDeployment(ctx context.Context, deployment *appsv1.Deployment) error {
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(deployment.UID))}
	err := c.kube.AppsV1().Deployments(deployment.Namespace).Delete(ctx, deployment.Name, options)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// updateFooStatus applies that status to the status subresource, which ignores everything but the
// status. It sends only the condition that this controller owns, so others keep theirs. It assumes
// foo's resourceVersion, so the API server refuses a status that was computed from an old spec.
func (c *controller) updateFooStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, status samplecontrollerv1alpha1.FooStatus) error {
	ready := meta.FindStatusCondition(status.Conditions, conditionReady)
	applied := samplecontrollerv1alpha1ac.FooStatus().
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
			WithMessage(ready.Message))
	desired := samplecontrollerv1alpha1ac.Foo(foo.Name, foo.Namespace).WithUID(foo.UID).WithResourceVersion(foo.ResourceVersion).WithStatus(applied)
	_, err := c.foos.SamplecontrollerV1alpha1().Foos(foo.Namespace).ApplyStatus(ctx, desired, metav1.ApplyOptions{FieldManager: fieldOwner, Force: true})
	return err
}
