// How writes leave: by server-side apply, but for the delete. The controller sends the fields that it wants and nothing else, under
// its name; the API server puts them into the object, whatever else is in it, and notes who owns which field (managedFields). An
// apply assumes nothing that it doesn't say: each function says what it needs.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	foov1alpha1ac "example.com/operators/04-codegen/pkg/generated/applyconfiguration/samplecontroller/v1alpha1"
)

// fieldManager is the name under which the controller owns fields.
const fieldManager = "foo-controller"

// createDeployment assumes that there is none of that name. Apply has no way to say so: it would change one that is there. Without
// force it changes no value that another manager has set: the server answers 409 instead. To the server, what we have applied for
// another Foo is our own; there the selector, which can't be changed, makes it refuse (422).
func (c *controller) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	options := metav1.ApplyOptions{FieldManager: fieldManager}
	_, err := c.client.AppsV1().Deployments(*desired.Namespace).Apply(ctx, desired, options)
	return err
}

// updateDeployment makes the fields that desired sets ours, whoever has changed them: else a scale by hand would win for ever.
// The UID is the assumption: it changes the Deployment that we control, and makes none if that is gone.
func (c *controller) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) error {
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	_, err := c.client.AppsV1().Deployments(observed.Namespace).Apply(ctx, desired.WithUID(observed.UID), options)
	return err
}

// deleteDeployment assumes the UID: it deletes this Deployment, not another that has taken its name. One that is gone
// already is what we wanted.
func (c *controller) deleteDeployment(ctx context.Context, deployment *appsv1.Deployment) error {
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(deployment.UID))}
	err := c.client.AppsV1().Deployments(deployment.Namespace).Delete(ctx, deployment.Name, options)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// updateFooStatus applies that status at the status subresource, which ignores all but the status. Of the conditions it sends our own
// alone: those of others are kept, and would be ours if we sent them. The resourceVersion is foo's: a status made from a spec
// that has changed since is refused.
func (c *controller) updateFooStatus(ctx context.Context, foo *v1alpha1.Foo, status v1alpha1.FooStatus) error {
	ready := meta.FindStatusCondition(status.Conditions, conditionReady)
	applied := foov1alpha1ac.FooStatus().
		WithAvailableReplicas(status.AvailableReplicas).
		WithObservedGeneration(status.ObservedGeneration).
		WithConditions(metav1ac.Condition().
			WithType(ready.Type).
			WithStatus(ready.Status).
			WithObservedGeneration(ready.ObservedGeneration).
			WithLastTransitionTime(ready.LastTransitionTime).
			WithReason(ready.Reason).
			WithMessage(ready.Message))
	desired := foov1alpha1ac.Foo(foo.Name, foo.Namespace).WithUID(foo.UID).WithResourceVersion(foo.ResourceVersion).WithStatus(applied)
	_, err := c.foos.SamplecontrollerV1alpha1().Foos(foo.Namespace).ApplyStatus(ctx, desired, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}
