// The reads. All but one ask the informers' caches, which know already. What they return is shared with everybody who
// reads the cache: look, don't touch; copy before you change anything.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// The indexes: what else than namespace and name a cache can be asked by, without looking at every object in it.
const (
	byDeploymentName = "spec.deploymentName"
	byOwner          = "owner"
)

// indexByDeploymentName puts a Foo under its namespace and the name of the Deployment that it asks for.
func indexByDeploymentName(obj any) ([]string, error) {
	foo := obj.(*v1alpha1.Foo)
	return []string{foo.Namespace + "/" + foo.Spec.DeploymentName}, nil
}

// indexByOwner puts an object under the UID of its controller.
func indexByOwner(obj any) ([]string, error) {
	if owner := metav1.GetControllerOf(obj.(metav1.Object)); owner != nil {
		return []string{string(owner.UID)}, nil
	}
	return nil, nil
}

func (c *controller) getFoo(_ context.Context, key types.NamespacedName) (*v1alpha1.Foo, error) {
	return c.foosLister.Foos(key.Namespace).Get(key.Name)
}

// listFoos returns the Foos that ask for a Deployment of that name.
func (c *controller) listFoos(namespace, deploymentName string) ([]*v1alpha1.Foo, error) {
	return byIndex[*v1alpha1.Foo](c.fooInformer.GetIndexer(), byDeploymentName, namespace+"/"+deploymentName)
}

func (c *controller) getDeployment(_ context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.deploymentsLister.Deployments(namespace).Get(name)
}

// getLiveDeployment asks the API server after all: what the cache doesn't have may be on its way there, and an apply changes what
// it finds.
func (c *controller) getLiveDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
}

// listDeployments returns the Deployments that foo controls.
func (c *controller) listDeployments(_ context.Context, foo *v1alpha1.Foo) ([]*appsv1.Deployment, error) {
	return byIndex[*appsv1.Deployment](c.deploymentInformer.GetIndexer(), byOwner, string(foo.UID))
}

// byIndex returns the objects that an index has under a value.
func byIndex[T any](indexer cache.Indexer, index, value string) ([]T, error) {
	objects, err := indexer.ByIndex(index, value)
	found := make([]T, len(objects))
	for i, object := range objects {
		found[i] = object.(T)
	}
	return found, err
}
