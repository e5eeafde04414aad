// The pure core: what a TDSet wants, and whether the existing objects match. The package schedule
// says how many replicas it wants, because that depends on the time. Nothing here reads a cluster,
// a clock or a flag.

package controller

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// TDSetLabel is on every object that belongs to a TDSet. Its value is the TDSet's name.
const TDSetLabel = "schedule.rs/tdset"

const (
	containerName = "app"
	portName      = "app"
)

// desiredDeployment returns tdset's Deployment with that many replicas, as an apply configuration.
// The controller owns the fields that are set here. All others are left to the API server's
// defaults and to other people.
func desiredDeployment(tdset *schedulev2.TDSet, replicas int32) *appsv1ac.DeploymentApplyConfiguration {
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

// desiredService returns tdset's Service. tdset must have a spec.service.
func desiredService(tdset *schedulev2.TDSet) *corev1ac.ServiceApplyConfiguration {
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

// labelsOf returns the labels of every object that belongs to tdset.
func labelsOf(tdset *schedulev2.TDSet) map[string]string {
	return map[string]string{"app": tdset.Name, TDSetLabel: tdset.Name}
}

// ownerReference names tdset as the controller of an object. The garbage collector deletes the
// object after the TDSet. The UID distinguishes it from objects of an earlier TDSet of this name.
func ownerReference(tdset *schedulev2.TDSet) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(schedulev2.GroupVersion.String()).
		WithKind("TDSet").
		WithName(tdset.Name).
		WithUID(tdset.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// controls reports whether the controller may change object: tdset controls it, by UID, and it
// isn't being deleted.
func controls(tdset *schedulev2.TDSet, object metav1.Object) bool {
	return metav1.IsControlledBy(object, tdset) && object.GetDeletionTimestamp().IsZero()
}

// deploymentUpToDate reports whether observed has what desired sets. It ignores all other fields.
func deploymentUpToDate(observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) bool {
	return hasLabels(observed.Labels, desired.Labels) &&
		hasLabels(observed.Spec.Template.Labels, desired.Spec.Template.Labels) &&
		replicasOf(observed) == *desired.Spec.Replicas &&
		hasContainer(observed.Spec.Template.Spec.Containers, desired.Spec.Template.Spec.Containers[0])
}

// serviceUpToDate reports whether observed has what desired sets, except for its ports. The
// selector has to be equal, because one more key would select fewer Pods.
func serviceUpToDate(observed *corev1.Service, desired *corev1ac.ServiceApplyConfiguration) bool {
	return hasLabels(observed.Labels, desired.Labels) && maps.Equal(observed.Spec.Selector, desired.Spec.Selector)
}

// portsUpToDate reports whether observed has desired's port and no other.
func portsUpToDate(observed *corev1.Service, desired *corev1ac.ServiceApplyConfiguration) bool {
	want := desired.Spec.Ports[0]
	return len(observed.Spec.Ports) == 1 &&
		observed.Spec.Ports[0].Name == *want.Name &&
		observed.Spec.Ports[0].Protocol == *want.Protocol &&
		observed.Spec.Ports[0].Port == *want.Port &&
		observed.Spec.Ports[0].TargetPort == *want.TargetPort
}

// hasLabels reports whether observed has every label in want.
func hasLabels(observed, want map[string]string) bool {
	return labels.SelectorFromSet(want).Matches(labels.Set(observed))
}

// hasContainer reports whether there is a container with want's name, image and port. Extra ports
// are ignored. They belong to someone else, because an apply removes ports of ours that it no
// longer names.
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
