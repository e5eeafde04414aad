// The pure core: what a Foo wants, whether a Deployment is so, and what the Foo's status should say. Nothing here reads a
// cluster, a clock or a flag, so it can be tested with plain values. Chapters 01 to 03 have the same one, and 04 to 06 say the
// same with an apply configuration; what changes from chapter to chapter is how events arrive and how writes leave.

package main

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	"example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// Reasons of the condition Ready. ErrResourceExists is also the reason of the event that chapters 03 on record.
const (
	conditionReady    = "Ready"
	reasonAvailable   = "Available"
	reasonProgressing = "Progressing"
	reasonTerminating = "Terminating"
	errResourceExists = "ErrResourceExists"
)

const (
	containerName   = "nginx"
	containerImage  = "nginx:latest"
	controllerLabel = "controller" // its value is the Foo's name
)

// desiredDeployment returns what foo wants of its Deployment, as an apply configuration: a Deployment of which every field may be
// missing. What is set here is what the controller owns; all else is left to the API server's defaults and to others.
func desiredDeployment(foo *v1alpha1.Foo) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "nginx", controllerLabel: foo.Name}
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
		WithLabels(labels).
		// The owner reference does two jobs: the garbage collector deletes the Deployment after its Foo, and the
		// UID in it tells whose Deployment this is. A name can be used again; a UID can't.
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(v1alpha1.GroupVersion.String()).
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
					WithContainers(corev1ac.Container().
						WithName(containerName).
						WithImage(containerImage).
						WithImagePullPolicy(corev1.PullIfNotPresent)))))
}

// upToDate tells whether observed has what desired sets. Fields that desired doesn't set are someone else's: an
// annotation of kubectl's, a sidecar that an admission webhook added, a default.
func upToDate(observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) bool {
	return hasLabels(observed.Labels, desired.Labels) &&
		hasLabels(observed.Spec.Template.Labels, desired.Spec.Template.Labels) &&
		replicasOf(observed) == *desired.Spec.Replicas &&
		hasContainer(observed.Spec.Template.Spec.Containers, desired.Spec.Template.Spec.Containers[0])
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

// hasContainer tells whether a container of want's name is there and has want's image and pull policy.
func hasContainer(containers []corev1.Container, want corev1ac.ContainerApplyConfiguration) bool {
	return slices.ContainsFunc(containers, func(container corev1.Container) bool {
		return container.Name == *want.Name &&
			container.Image == *want.Image &&
			container.ImagePullPolicy == *want.ImagePullPolicy
	})
}

// replicasOf reads spec.replicas, for which nil means 1.
func replicasOf(deployment *appsv1.Deployment) int32 {
	return ptr.Deref(deployment.Spec.Replicas, 1)
}

// controls tells whether deployment is foo's to change: foo is its controller by UID, and it isn't being deleted.
func controls(foo *v1alpha1.Foo, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, foo) && deployment.DeletionTimestamp.IsZero()
}

// desiredStatus returns what foo's status should say of the Deployment of its name, at the time now. Where it would say
// what it says already, the result equals foo.Status, times included: then there is nothing to write.
func desiredStatus(foo *v1alpha1.Foo, deployment *appsv1.Deployment, now metav1.Time) v1alpha1.FooStatus {
	ready := metav1.Condition{
		Type:               conditionReady,
		Status:             metav1.ConditionFalse,
		ObservedGeneration: foo.Generation,
		LastTransitionTime: now,
	}
	status := v1alpha1.FooStatus{
		ObservedGeneration: foo.Generation,
		Conditions:         slices.Clone(foo.Status.Conditions),
	}
	want, available := replicasOf(deployment), deployment.Status.AvailableReplicas
	switch {
	case !metav1.IsControlledBy(deployment, foo):
		ready.Reason = errResourceExists
		ready.Message = fmt.Sprintf("Deployment %q exists and is not controlled by this Foo: delete it or choose another deploymentName", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		ready.Reason = reasonTerminating
		ready.Message = fmt.Sprintf("Deployment %q is being deleted and will be made again", deployment.Name)
	default:
		status.AvailableReplicas = available
		ready.Reason = reasonProgressing
		ready.Message = fmt.Sprintf("%d of %d replicas of Deployment %q are available", available, want, deployment.Name)
		if rolledOut(deployment) {
			ready.Status = metav1.ConditionTrue
			ready.Reason = reasonAvailable
		}
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// rolledOut tells whether the Deployment controller has seen the latest spec and all that it asks for is there.
func rolledOut(deployment *appsv1.Deployment) bool {
	want, status := replicasOf(deployment), deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want
}
