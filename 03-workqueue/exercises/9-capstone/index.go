// The indexes. With an index, the controller can find objects in a cache by something other than
// namespace and name, without looking at every object.

package main

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

const (
	byDeploymentName = "spec.deploymentName"
	byOwner          = "owner"
)

// addIndexes adds the indexes to the caches. It is called before they run.
func (c *controller) addIndexes() error {
	return errors.Join(
		c.fooInformer.AddTypedIndexers(cache.TypedIndexers[*samplecontrollerv1alpha1.Foo]{byDeploymentName: indexByDeploymentName}),
		c.deploymentInformer.AddTypedIndexers(cache.TypedIndexers[*appsv1.Deployment]{byOwner: indexByOwner}),
	)
}

// indexByDeploymentName indexes a Foo by its namespace and the Deployment name that it asks for.
func indexByDeploymentName(foo *samplecontrollerv1alpha1.Foo) ([]string, error) {
	return []string{foo.Namespace + "/" + foo.Spec.DeploymentName}, nil
}

// indexByOwner indexes a Deployment by the UID of its controller.
func indexByOwner(deployment *appsv1.Deployment) ([]string, error) {
	if owner := metav1.GetControllerOf(deployment); owner != nil {
		return []string{string(owner.UID)}, nil
	}
	return nil, nil
}
