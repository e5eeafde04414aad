// A shorter version of the chapter's desired.go: the Deployment that a Foo asks for, and whether an
// existing one is up to date and belongs to the Foo. You don't need to change anything here.

package force

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// desiredDeployment returns the Deployment that foo asks for. It doesn't set the UID.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(samplecontrollerv1alpha1.GroupVersion.String()).
			WithKind("Foo").
			WithName(foo.Name).
			WithUID(foo.UID).
			WithController(true)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(ptr.Deref(foo.Spec.Replicas, 1)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().WithName("nginx").WithImage("nginx:latest")))))
}

// upToDate reports whether observed has what desired sets.
func upToDate(observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) bool {
	want := desired.Spec.Template.Spec.Containers[0]
	return ptr.Deref(observed.Spec.Replicas, 1) == *desired.Spec.Replicas &&
		slices.ContainsFunc(observed.Spec.Template.Spec.Containers, func(container corev1.Container) bool {
			return container.Name == *want.Name && container.Image == *want.Image
		})
}

// controls reports whether deployment is foo's to change: foo is its controller by UID, and it
// isn't being deleted.
func controls(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, foo) && deployment.DeletionTimestamp.IsZero()
}
