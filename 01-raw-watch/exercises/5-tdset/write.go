// The writes. Each one states its assumption, so that the API server refuses it with 409 if that is
// no longer true.

package main

import (
	"context"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
)

// createDeployment assumes that there is no Deployment with that name.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	created := &appsv1.Deployment{}
	return created, c.client.Do(ctx, http.MethodPost, deploymentsPath(desired.Namespace), nil, desired, created)
}

// updateDeployment sends all of observed, with the values that desired sets. It assumes observed's
// resourceVersion.
func (c *controller) updateDeployment(ctx context.Context, observed, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	merged, updated := merge(observed, desired), &appsv1.Deployment{}
	return updated, c.client.Do(ctx, http.MethodPut, deploymentsPath(merged.Namespace)+"/"+merged.Name, nil, merged, updated)
}

// updateTDSetStatus assumes tdset's resourceVersion, so the API server refuses a status that was
// computed from an old spec.
func (c *controller) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	updated := *tdset
	updated.Status = status
	return c.client.Do(ctx, http.MethodPut, tdsetsPath(tdset.Namespace)+"/"+tdset.Name+"/status", nil, &updated, nil)
}
