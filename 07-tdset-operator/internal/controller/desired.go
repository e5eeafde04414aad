// The pure core: what a TDSet wants, and whether what is there is so. How many replicas it wants depends on the time, and comes from
// the package schedule. Nothing here reads a cluster, a clock or a flag.

package controller

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	v1 "example.com/operators/07-tdset-operator/api/v1"
)

// TDSetLabel is the label of all that belongs to a TDSet: its value is the TDSet's name.
const TDSetLabel = "schedule.rs/tdset"

const (
	containerName = "app"
	portName      = "app"
)

// desiredDeployment returns what tdset wants of its Deployment, with so many replicas, as an apply configuration: what is set here is
// what the controller owns; all else is left to the API server's defaults and to others.
func desiredDeployment(tdset *v1.TDSet, replicas int32) *appsv1ac.DeploymentApplyConfiguration {
	return appsv1ac.Deployment(tdset.Name, tdset.Namespace).
		WithLabels(labelsOf(tdset)).
		WithOwnerReferences(ownerReference(tdset)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(replicas).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labelsOf(tdset))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labelsOf(tdset)).
				WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().
						WithName(containerName).
						WithImage(tdset.Spec.Container.Image).
						WithPorts(corev1ac.ContainerPort().WithContainerPort(tdset.Spec.Container.Port))))))
}

// desiredService returns what tdset, which must have a spec.service, wants of its Service.
func desiredService(tdset *v1.TDSet) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(tdset.Name, tdset.Namespace).
		WithLabels(labelsOf(tdset)).
		WithOwnerReferences(ownerReference(tdset)).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(labelsOf(tdset)).
			WithPorts(corev1ac.ServicePort().
				WithName(portName).
				WithProtocol(corev1.ProtocolTCP).
				WithPort(tdset.Spec.Service.Port).
				WithTargetPort(intstr.FromInt32(tdset.Spec.Container.Port))))
}

// labelsOf returns the labels of all that belongs to tdset.
func labelsOf(tdset *v1.TDSet) map[string]string {
	return map[string]string{"app": tdset.Name, TDSetLabel: tdset.Name}
}

// ownerReference names tdset as the controller of an object: after the TDSet, the garbage collector deletes it; and by the UID in it,
// it can be told from an object of that name that is someone else's.
func ownerReference(tdset *v1.TDSet) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1.GroupVersion.String()).
		WithKind("TDSet").
		WithName(tdset.Name).
		WithUID(tdset.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// controls tells whether object is tdset's to change: tdset is its controller by UID, and it isn't being deleted.
func controls(tdset *v1.TDSet, object metav1.Object) bool {
	return metav1.IsControlledBy(object, tdset) && object.GetDeletionTimestamp().IsZero()
}

// deploymentUpToDate tells whether observed has what desired sets. All else is someone else's.
func deploymentUpToDate(observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) bool {
	return hasLabels(observed.Labels, desired.Labels) &&
		hasLabels(observed.Spec.Template.Labels, desired.Spec.Template.Labels) &&
		replicasOf(observed) == *desired.Spec.Replicas &&
		hasContainer(observed.Spec.Template.Spec.Containers, desired.Spec.Template.Spec.Containers[0])
}

// serviceUpToDate tells whether observed has what desired sets, but for its ports: see portsUpToDate. The selector is one value (an atomic
// map): a key more finds fewer Pods, or none.
func serviceUpToDate(observed *corev1.Service, desired *corev1ac.ServiceApplyConfiguration) bool {
	return hasLabels(observed.Labels, desired.Labels) && maps.Equal(observed.Spec.Selector, desired.Spec.Selector)
}

// portsUpToDate tells whether observed has the one port of desired, and no other.
func portsUpToDate(observed *corev1.Service, desired *corev1ac.ServiceApplyConfiguration) bool {
	want := desired.Spec.Ports[0]
	return len(observed.Spec.Ports) == 1 &&
		observed.Spec.Ports[0].Name == *want.Name &&
		observed.Spec.Ports[0].Protocol == *want.Protocol &&
		observed.Spec.Ports[0].Port == *want.Port &&
		observed.Spec.Ports[0].TargetPort == *want.TargetPort
}

// hasLabels tells whether every label in want stands in labels.
func hasLabels(labels, want map[string]string) bool {
	for key, value := range want {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// hasContainer tells whether a container of want's name is there and has want's image and port. Further ports are someone else's: of
// ours, an apply takes away those that it no longer names.
func hasContainer(containers []corev1.Container, want corev1ac.ContainerApplyConfiguration) bool {
	return slices.ContainsFunc(containers, func(container corev1.Container) bool {
		return container.Name == *want.Name &&
			container.Image == *want.Image &&
			slices.ContainsFunc(container.Ports, func(port corev1.ContainerPort) bool {
				return port.ContainerPort == *want.Ports[0].ContainerPort
			})
	})
}

// replicasOf reads spec.replicas, for which nil means 1.
func replicasOf(deployment *appsv1.Deployment) int32 {
	return ptr.Deref(deployment.Spec.Replicas, 1)
}
