// The objects that Reconcile applies, and the options of the manager's cache. You don't need to
// change anything here.

package rbac

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = client.FieldOwner("foo-controller")

// defaultsKey is the key of the ConfigMap that names the image for all Foos. It is in the
// operator's own namespace.
var defaultsKey = client.ObjectKey{Namespace: "foo-operator-system", Name: "foo-defaults"}

// CacheOptions returns the options of the manager's cache. It has the ConfigMaps of the operator's
// own namespace only, and all other types from the whole cluster.
func CacheOptions() cache.Options {
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{defaultsKey.Namespace: {}}},
	}}
}

// desiredDeployment returns the Deployment that foo asks for, as an apply configuration.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo, image string) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(samplecontrollerv1alpha1.GroupVersion.String()).
			WithKind("Foo").
			WithName(foo.Name).
			WithUID(foo.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(ptr.Deref(foo.Spec.Replicas, 1)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().WithName("nginx").WithImage(image)))))
}

// upToDate reports whether observed has the values that desired sets.
func upToDate(observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) bool {
	containers := observed.Spec.Template.Spec.Containers
	return ptr.Deref(observed.Spec.Replicas, 1) == *desired.Spec.Replicas &&
		len(containers) == 1 && containers[0].Image == *desired.Spec.Template.Spec.Containers[0].Image
}
