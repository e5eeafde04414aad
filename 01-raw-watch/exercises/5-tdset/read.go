// The reads. Every one of them asks the API server.

package main

import (
	"context"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (c *controller) getTDSet(ctx context.Context, key types.NamespacedName) (*TDSet, error) {
	tdset := &TDSet{}
	return tdset, c.client.Do(ctx, http.MethodGet, tdsetsPath(key.Namespace)+"/"+key.Name, nil, nil, tdset)
}

func (c *controller) getDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.client.Do(ctx, http.MethodGet, deploymentsPath(namespace)+"/"+name, nil, nil, deployment)
}
