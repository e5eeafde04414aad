// The reads. None of them asks the API server, because the informers' caches have the answer. A
// cached object is shared by everyone who reads it, so change a copy and never the object itself.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/listers"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

func (c *controller) getFoo(ctx context.Context, key types.NamespacedName) (*samplecontrollerv1alpha1.Foo, error) {
	return listers.NewNamespaced(c.foosLister, key.Namespace).Get(key.Name)
}

// listFoos returns the Foos that ask for a Deployment of that name.
func (c *controller) listFoos(ctx context.Context, namespace, deploymentName string) ([]*samplecontrollerv1alpha1.Foo, error) {
	return c.fooInformer.GetTypedIndexer().ByTypedIndex(byDeploymentName, namespace+"/"+deploymentName)
}

func (c *controller) getDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.deploymentsLister.Deployments(namespace).Get(name)
}

// listDeployments returns the Deployments that foo controls.
func (c *controller) listDeployments(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) ([]*appsv1.Deployment, error) {
	return c.deploymentInformer.GetTypedIndexer().ByTypedIndex(byOwner, string(foo.UID))
}
