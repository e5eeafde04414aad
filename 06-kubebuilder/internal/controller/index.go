// The indexes. With an index, the controller can find objects in a cache by something other than
// namespace and name, without looking at every object.

package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

const (
	byDeploymentName = "spec.deploymentName"
	byOwner          = "owner"
)

// indexByDeploymentName indexes a Foo by the Deployment name that it asks for.
func indexByDeploymentName(obj client.Object) []string {
	return []string{obj.(*samplecontrollerv1alpha1.Foo).Spec.DeploymentName}
}

// indexByOwner indexes a Deployment by the UID of the object that controls it, such as a Foo.
func indexByOwner(obj client.Object) []string {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}
