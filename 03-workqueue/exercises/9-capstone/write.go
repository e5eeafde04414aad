// The writes: client-go's Create, Update and Delete.
//
// Each one states its assumption, as a resourceVersion or a UID. If that is no longer true, the API
// server refuses the write with 409 Conflict, so a change that someone else made in the meantime is
// never lost.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// createDeployment assumes that there is no Deployment with that name. If there is one, the API
// server answers 409 with the reason AlreadyExists.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	return c.kube.AppsV1().Deployments(desired.Namespace).Create(ctx, desired, metav1.CreateOptions{})
}

// updateDeployment sends all of observed, with the values that desired sets. It assumes observed's
// resourceVersion. If someone else has written since, this update would undo their change, so the
// API server refuses it.
func (c *controller) updateDeployment(ctx context.Context, observed, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	merged := merge(observed, desired)
	return c.kube.AppsV1().Deployments(merged.Namespace).Update(ctx, merged, metav1.UpdateOptions{})
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

// updateFooStatus sends foo with that status to the status subresource, which ignores everything
// but the status. It assumes foo's resourceVersion, so the API server refuses a status that was
// computed from an old spec.
func (c *controller) updateFooStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, status samplecontrollerv1alpha1.FooStatus) error {
	updated := *foo
	updated.Status = status
	_, err := c.foos.Foos(foo.Namespace).UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
	return err
}
