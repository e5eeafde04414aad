// The reads. All but one of them read from the informers' caches. A cached object is shared by
// everyone who reads it, so change a copy and never the object itself.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

func (c *controller) getFoo(ctx context.Context, key types.NamespacedName) (*samplecontrollerv1alpha1.Foo, error) {
	return c.foosLister.Foos(key.Namespace).Get(key.Name)
}

// listFoos returns the Foos that ask for a Deployment of that name.
func (c *controller) listFoos(ctx context.Context, namespace, deploymentName string) ([]*samplecontrollerv1alpha1.Foo, error) {
	return c.fooInformer.GetTypedIndexer().ByTypedIndex(byDeploymentName, namespace+"/"+deploymentName)
}

func (c *controller) getDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.deploymentsLister.Deployments(namespace).Get(name)
}

// getDeploymentUncached asks the API server. The cache may lag behind, and unlike a create, an
// apply can change an existing Deployment.
func (c *controller) getDeploymentUncached(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.kube.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
}

// listDeployments returns the Deployments that foo controls.
func (c *controller) listDeployments(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) ([]*appsv1.Deployment, error) {
	return c.deploymentInformer.GetTypedIndexer().ByTypedIndex(byOwner, string(foo.UID))
}
