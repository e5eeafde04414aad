// The indexes. With an index, the controller can find objects in a cache by something other than
// namespace and name, without looking at every object.

package main

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

const (
	byDeploymentName = "spec.deploymentName"
	byOwner          = "owner"
)

// addIndexes adds the indexes to the caches. It is called before they run.
func (c *controller) addIndexes() error {
	return errors.Join(
		c.fooInformer.AddIndexers(cache.Indexers{byDeploymentName: indexByDeploymentName}),
		c.deploymentInformer.AddIndexers(cache.Indexers{byOwner: indexByOwner}),
	)
}

// indexByDeploymentName indexes a Foo by its namespace and the Deployment name that it asks for.
func indexByDeploymentName(obj any) ([]string, error) {
	foo := obj.(*v1alpha1.Foo)
	return []string{foo.Namespace + "/" + foo.Spec.DeploymentName}, nil
}

// indexByOwner indexes an object by the UID of its controller.
func indexByOwner(obj any) ([]string, error) {
	if owner := metav1.GetControllerOf(obj.(metav1.Object)); owner != nil {
		return []string{string(owner.UID)}, nil
	}
	return nil, nil
}

// byIndex returns the objects that have this value in the index.
func byIndex[T any](indexer cache.Indexer, index, value string) ([]T, error) {
	objects, err := indexer.ByIndex(index, value)
	found := make([]T, len(objects))
	for i, object := range objects {
		found[i] = object.(T)
	}
	return found, err
}
