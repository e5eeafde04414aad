// How writes leave: by server-side apply, but for the delete. The controller sends the fields that it wants and nothing else, under
// its name; the API server puts them into the object, whatever else is in it, and notes who owns which field (managedFields). An
// apply assumes nothing that it doesn't say: each function says what it needs.

package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
	foov1alpha1ac "example.com/operators/06-kubebuilder/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

// fieldManager is the name under which the controller owns fields.
const fieldManager = client.FieldOwner("foo-controller")

// createDeployment assumes that there is none of that name. Apply has no way to say so: it would change one that is there. Without
// force it changes no value that another manager has set: the server answers 409 instead. To the server, what we have applied for
// another Foo is our own; there the selector, which can't be changed, makes it refuse (422).
func (r *FooReconciler) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	return r.Apply(ctx, desired, fieldManager)
}

// updateDeployment makes the fields that desired sets ours, whoever has changed them: else a scale by hand would win for ever.
// The UID is the assumption: it changes the Deployment that we control, and makes none if that is gone.
func (r *FooReconciler) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) error {
	return r.Apply(ctx, desired.WithUID(observed.UID), fieldManager, client.ForceOwnership)
}

// deleteDeployment assumes the UID: it deletes this Deployment, not another that has taken its name. One that is gone
// already is what we wanted.
func (r *FooReconciler) deleteDeployment(ctx context.Context, deployment *appsv1.Deployment) error {
	return client.IgnoreNotFound(r.Delete(ctx, deployment, client.Preconditions{UID: &deployment.UID}))
}

// updateFooStatus applies that status at the status subresource, which ignores all but the status. Of the conditions it sends our own
// alone: those of others are kept, and would be ours if we sent them. The resourceVersion is foo's: a status made from a spec
// that has changed since is refused.
func (r *FooReconciler) updateFooStatus(ctx context.Context, foo *v1alpha1.Foo, status v1alpha1.FooStatus) error {
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
	return r.Status().Apply(ctx, desired, fieldManager, client.ForceOwnership)
}
