// The indexes. With an index, the controller can find objects in a cache by something other than
// namespace and name, without looking at every object.

package main

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

const (
	byDeploymentName = "spec.deploymentName"
	byOwner          = "owner"
)

// addIndexes adds the indexes to the caches. It is called before they run.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	return errors.Join(
		indexer.IndexField(ctx, &samplecontrollerv1alpha1.Foo{}, byDeploymentName, indexByDeploymentName),
		indexer.IndexField(ctx, &appsv1.Deployment{}, byOwner, indexByOwner),
	)
}

// indexByDeploymentName indexes a Foo by its namespace and the Deployment name that it asks for.
func indexByDeploymentName(obj client.Object) []string {
	return []string{obj.(*samplecontrollerv1alpha1.Foo).Spec.DeploymentName} // the cache adds the namespace
}

// indexByOwner indexes a Deployment by the UID of its controller.
func indexByOwner(obj client.Object) []string {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}
