// The reads: Reconcile asks the manager's client, which answers from the cache, and with a copy. What is left here are the indexes.

package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
)

// The indexes: what else than namespace and name a cache can be asked by, without looking at every object in it.
const (
	byDeploymentName = "spec.deploymentName"
	byOwner          = "owner"
)

// indexByDeploymentName puts a Foo under the name of the Deployment that it asks for. (The cache adds the namespace.)
func indexByDeploymentName(object client.Object) []string {
	return []string{object.(*v1alpha1.Foo).Spec.DeploymentName}
}

// indexByOwner puts an object under the UID of its controller.
func indexByOwner(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}
