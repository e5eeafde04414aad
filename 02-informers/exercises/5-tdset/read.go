// The reads. None of them asks the API server, because the informers' caches have the answer. A
// cached object is shared by everyone who reads it, so change a copy and never the object itself.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/listers"
)

func (c *controller) getTDSet(_ context.Context, key types.NamespacedName) (*TDSet, error) {
	return listers.NewNamespaced(c.tdsetsLister, key.Namespace).Get(key.Name)
}

func (c *controller) getDeployment(_ context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.deploymentsLister.Deployments(namespace).Get(name)
}
