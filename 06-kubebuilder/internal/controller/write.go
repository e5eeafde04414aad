// The writes: server-side apply, and a delete. The controller sends only the fields that it owns,
// with its name as the field manager. The API server merges them into the object, and remembers in
// managedFields who owns which field. An apply succeeds whatever the object looks like now, so each
// function adds a check of its own.

package controller

import (
	"context"
	"encoding/json"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
	samplecontrollerv1alpha1ac "example.com/operators/06-kubebuilder/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = client.FieldOwner("foo-controller")

// createDeployment expects no Deployment with that name, but an apply has no create-only option. It
// would change an existing one. But without force, it can't change another field manager's values
// (409 Conflict), and it can't change the selector of another Foo's Deployment (422 Invalid).
func (c *FooReconciler) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	return c.applyDeployment(ctx, desired)
}

// updateDeployment forces the values that desired sets, even if another field manager has changed
// them. Without force, every apply after a manual kubectl scale would get 409 Conflict, and the
// scale would never be reverted. It assumes the UID: if the Deployment is gone, the apply fails
// instead of creating another one.
func (c *FooReconciler) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	return c.applyDeployment(ctx, desired.WithUID(observed.UID), client.ForceOwnership)
}

// applyDeployment applies desired and returns the API server's answer, with which Apply has replaced
// desired.
func (c *FooReconciler) applyDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration, options ...client.ApplyOption) (*appsv1.Deployment, error) {
	if err := c.Apply(ctx, desired, append(options, fieldOwner)...); err != nil {
		return nil, err
	}
	applied := &appsv1.Deployment{}
	answer, err := json.Marshal(desired)
	return applied, errors.Join(err, json.Unmarshal(answer, applied))
}

// deleteDeployment assumes the UID, so it never deletes another Deployment that has taken the name.
// If the Deployment is gone already, there is nothing to do.
func (c *FooReconciler) deleteDeployment(ctx context.Context, deployment *appsv1.Deployment) error {
	return client.IgnoreNotFound(c.Delete(ctx, deployment, client.Preconditions{UID: &deployment.UID}))
}

// updateFooStatus applies that status to the status subresource, which ignores everything but the
// status. It sends only the condition that this controller owns, so others keep theirs. It assumes
// foo's resourceVersion, so the API server refuses a status that was computed from an old spec.
func (c *FooReconciler) updateFooStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, status samplecontrollerv1alpha1.FooStatus) error {
	ready := meta.FindStatusCondition(status.Conditions, conditionReady)
	applied := samplecontrollerv1alpha1ac.FooStatus().
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
	return c.Status().Apply(ctx, desired, fieldOwner, client.ForceOwnership)
}
