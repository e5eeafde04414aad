// The reads of Deployments. The first one returns a copy of the object in the manager's cache.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (c *controller) getDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)
}

// getDeploymentUncached asks the API server. The cache may lag behind, and unlike a create, an
// apply can change an existing Deployment.
func (c *controller) getDeploymentUncached(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)
}
