// The writes: POST, PUT and DELETE.
//
// Each one states its assumption, as a resourceVersion or a UID. If that is no longer true, the API
// server refuses the write with 409 Conflict, so a change that someone else made in the meantime is
// never lost.

package main

import (
	"context"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// createDeployment assumes that there is no Deployment with that name. If there is one, the API
// server answers 409 with the reason AlreadyExists.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	created := &appsv1.Deployment{}
	return created, c.client.Do(ctx, http.MethodPost, deploymentsPath(desired.Namespace), nil, desired, created)
}

// updateDeployment sends all of observed, with the values that desired sets. It assumes observed's
// resourceVersion. If someone else has written since, this update would undo their change, so the
// API server refuses it.
func (c *controller) updateDeployment(ctx context.Context, observed, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	merged, updated := merge(observed, desired), &appsv1.Deployment{}
	return updated, c.client.Do(ctx, http.MethodPut, deploymentsPath(merged.Namespace)+"/"+merged.Name, nil, merged, updated)
}

// deleteDeployment assumes the UID, so it never deletes another Deployment that has taken the name.
// If the Deployment is gone already, there is nothing to do.
func (c *controller) deleteDeployment(ctx context.Context, deployment *appsv1.Deployment) error {
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(deployment.UID))}
	err := c.client.Do(ctx, http.MethodDelete, deploymentsPath(deployment.Namespace)+"/"+deployment.Name, nil, options, nil)
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
	return c.client.Do(ctx, http.MethodPut, foosPath(foo.Namespace)+"/"+foo.Name+"/status", nil, &updated, nil)
}
