// Helpers for your tests. You may change them, or add your own to exercise.go.

package envtests

import (
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// newFoo returns a Foo that asks for two replicas.
func newFoo(namespace string) *samplecontrollerv1alpha1.Foo {
	foo := &samplecontrollerv1alpha1.Foo{}
	foo.Namespace, foo.Name = namespace, "web"
	foo.Spec.DeploymentName, foo.Spec.Replicas = "web", new(int32(2))
	return foo
}

// deploymentOf returns the Deployment with the name that foo asks for, or nil.
func deploymentOf(t T, c client.Client, foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	deployment := &appsv1.Deployment{}
	err := c.Get(t.Context(), client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, deployment)
	if err != nil {
		t.Errorf("get the Deployment: %v", err)
		return nil
	}
	return deployment
}
