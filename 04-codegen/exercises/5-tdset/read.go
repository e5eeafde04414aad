// The reads. All but one return objects from the informers' caches. A cached object is shared by
// everyone who reads it, so change a copy and never the object itself.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (c *controller) getTDSet(_ context.Context, key types.NamespacedName) (*TDSet, error) {
	return c.tdsetsLister.TDSets(key.Namespace).Get(key.Name)
}

func (c *controller) getDeployment(_ context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.deploymentsLister.Deployments(namespace).Get(name)
}

// getDeploymentUncached asks the API server. The cache may lag behind, and unlike a create, an
// apply can change an existing Deployment.
func (c *controller) getDeploymentUncached(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.kube.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
}
