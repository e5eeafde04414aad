// The pure core. It builds the Deployment that a Foo asks for, checks whether a Deployment matches
// it, and computes the Foo's status. Nothing here reads from a cluster, a clock or a flag, so plain
// values are enough to test it.

package main

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// The condition Ready and its reasons. ErrResourceExists is what sample-controller calls it.
const (
	conditionReady       = "Ready"
	reasonAvailable      = "Available"
	reasonProgressing    = "Progressing"
	reasonTerminating    = "Terminating"
	reasonRefused        = "Refused" // by the API server
	reasonFailed         = "Failed"  // for another reason
	reasonResourceExists = "ErrResourceExists"
)

const (
	containerName   = "nginx"
	containerImage  = "nginx:latest"
	controllerLabel = "controller" // its value is the Foo's name
)

// desiredDeployment returns the Deployment that foo asks for, as an apply configuration, in which
// any field may be missing. It sets only the fields that the controller owns. The rest is up to
// the API server's defaults and to others.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "nginx", controllerLabel: foo.Name}
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
		WithLabels(labels).
		// The owner reference does two jobs. It makes the garbage collector delete the Deployment
		// after its Foo, and its UID says whose Deployment this is: names are reused, UIDs aren't.
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
					WithContainers(corev1ac.Container().
						WithName(containerName).
						WithImage(containerImage).
						WithImagePullPolicy(corev1.PullIfNotPresent)))))
}

// upToDate reports whether observed has the values that desired sets. The other fields belong to
// someone else: a kubectl annotation, a sidecar that an admission webhook added, a default.
func upToDate(observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) bool {
	return hasLabels(observed.Labels, desired.Labels) &&
		hasLabels(observed.Spec.Template.Labels, desired.Spec.Template.Labels) &&
		replicasOf(observed) == *desired.Spec.Replicas &&
		hasContainer(observed.Spec.Template.Spec.Containers, desired.Spec.Template.Spec.Containers[0])
}

// hasLabels reports whether have contains every label in want.
func hasLabels(have, want map[string]string) bool {
	return labels.SelectorFromSet(want).Matches(labels.Set(have))
}

// hasContainer reports whether one of containers has want's name, image and pull policy.
func hasContainer(containers []corev1.Container, want corev1ac.ContainerApplyConfiguration) bool {
	return slices.ContainsFunc(containers, func(container corev1.Container) bool {
		return container.Name == *want.Name &&
			container.Image == *want.Image &&
			container.ImagePullPolicy == *want.ImagePullPolicy
	})
}

// replicasOf returns spec.replicas, where nil means 1.
func replicasOf(deployment *appsv1.Deployment) int32 {
	return ptr.Deref(deployment.Spec.Replicas, 1)
}

// controls reports whether foo may change deployment: its owner reference names foo as the
// controller, by UID, and the Deployment isn't being deleted.
func controls(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, foo) && deployment.DeletionTimestamp.IsZero()
}

// desiredStatus returns the status that foo should have. deployment is the Deployment that foo
// names, which may only be nil after a failure, and failure is the reason why it doesn't match foo.
// If nothing has changed, the result equals foo.Status, including its times, so no write is needed.
func desiredStatus(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment, failure error, now metav1.Time) samplecontrollerv1alpha1.FooStatus {
	ready := metav1.Condition{
		Type:               conditionReady,
		Status:             metav1.ConditionFalse,
		ObservedGeneration: foo.Generation,
		LastTransitionTime: now,
	}
	status := samplecontrollerv1alpha1.FooStatus{
		ObservedGeneration: foo.Generation,
		Conditions:         slices.Clone(foo.Status.Conditions),
	}
	if deployment != nil && controls(foo, deployment) {
		status.Replicas = deployment.Status.Replicas
		status.Selector = metav1.FormatLabelSelector(deployment.Spec.Selector)
		status.AvailableReplicas = deployment.Status.AvailableReplicas
	}
	switch {
	case failure != nil:
		ready.Reason, ready.Message = reasonFailed, "The last attempt failed: the controller's log says why"
		if isRefusal(failure) {
			ready.Reason, ready.Message = reasonRefused, failure.Error()
		}
	case !metav1.IsControlledBy(deployment, foo):
		ready.Reason = reasonResourceExists
		ready.Message = fmt.Sprintf("Deployment %q exists and is not controlled by this Foo: delete it or choose another deploymentName", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		ready.Reason = reasonTerminating
		ready.Message = fmt.Sprintf("Deployment %q is being deleted and will be created again", deployment.Name)
	default:
		ready.Reason = reasonProgressing
		ready.Message = fmt.Sprintf("%d of %d replicas of Deployment %q are available", status.AvailableReplicas, replicasOf(deployment), deployment.Name)
		if rolledOut(deployment) {
			ready.Status, ready.Reason = metav1.ConditionTrue, reasonAvailable
			break
		}
		// The Deployment's own conditions say why it gets no Pods (a quota, for example) or why its
		// rollout makes no progress. The first is often the cause of the second, so it wins.
		for _, condition := range deployment.Status.Conditions {
			noPods := condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue
			stuck := condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse
			if noPods || stuck && ready.Reason == reasonProgressing {
				ready.Reason, ready.Message = condition.Reason, condition.Message
			}
		}
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// rolledOut reports whether the Deployment controller has seen the latest spec and has finished the
// rollout.
func rolledOut(deployment *appsv1.Deployment) bool {
	want, status := replicasOf(deployment), deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want
}
