// The pure core. It builds the Deployment that a Foo asks for, checks whether a Deployment matches
// it, and computes the Foo's status. Nothing here reads from a cluster, a clock or a flag, so plain
// values are enough to test it. Chapters 01 to 03 share one version of this file. Chapters 04 to 06
// share another, which builds an apply configuration.

package main

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// The condition Ready and its reasons. From chapter 03 on, ErrResourceExists is also the reason of
// an Event.
const (
	conditionReady    = "Ready"
	reasonAvailable   = "Available"
	reasonProgressing = "Progressing"
	reasonTerminating = "Terminating"
	reasonRefused     = "Refused" // by the API server
	reasonFailed      = "Failed"  // for another reason
	errResourceExists = "ErrResourceExists"
)

const (
	containerName   = "nginx"
	containerImage  = "nginx:latest"
	controllerLabel = "controller" // its value is the Foo's name
)

// desiredDeployment returns the Deployment that foo asks for. It sets only the fields that the
// controller owns, and leaves the rest to the API server's defaults and to others.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx", controllerLabel: foo.Name}
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name:      foo.Spec.DeploymentName,
			Namespace: foo.Namespace,
			Labels:    labels,
			// The owner reference does two jobs. It makes the garbage collector delete the
			// Deployment after its Foo, and its UID says whose Deployment this is: names are
			// reused, UIDs aren't.
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo")),
			},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: foo.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{
						Name:            containerName,
						Image:           containerImage,
						ImagePullPolicy: corev1.PullIfNotPresent,
					}},
				},
			},
		},
	}
}

// upToDate reports whether observed has the values that desired sets. The other fields belong to
// someone else: a kubectl annotation, a sidecar that an admission webhook added, a default.
func upToDate(observed, desired *appsv1.Deployment) bool {
	return hasLabels(observed.Labels, desired.Labels) &&
		hasLabels(observed.Spec.Template.Labels, desired.Spec.Template.Labels) &&
		replicasOf(observed) == replicasOf(desired) &&
		hasContainer(observed.Spec.Template.Spec.Containers, desired.Spec.Template.Spec.Containers[0])
}

// hasLabels reports whether have contains every label in want.
func hasLabels(have, want map[string]string) bool {
	return labels.SelectorFromSet(want).Matches(labels.Set(have))
}

// hasContainer reports whether one of containers has want's name, image and pull policy.
func hasContainer(containers []corev1.Container, want corev1.Container) bool {
	return slices.ContainsFunc(containers, func(container corev1.Container) bool {
		return container.Name == want.Name &&
			container.Image == want.Image &&
			container.ImagePullPolicy == want.ImagePullPolicy
	})
}

// replicasOf returns spec.replicas, where nil means 1.
func replicasOf(deployment *appsv1.Deployment) int32 {
	return ptr.Deref(deployment.Spec.Replicas, 1)
}

// controls reports whether foo may change deployment: its owner reference names foo as the
// controller, by UID, and it isn't being deleted.
func controls(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, foo) && deployment.DeletionTimestamp.IsZero()
}

// desiredStatus returns the status that foo should have, given the Deployment that it names, and why
// that isn't as foo asks. Both may be nil. If nothing has changed, the result equals foo.Status,
// including its times, so no write is needed.
func desiredStatus(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment, failure error, now metav1.Time) samplecontrollerv1alpha1.FooStatus {
	status := samplecontrollerv1alpha1.FooStatus{
		ObservedGeneration: foo.Generation,
		Conditions:         slices.Clone(foo.Status.Conditions),
	}
	if deployment != nil && controls(foo, deployment) {
		status.AvailableReplicas = deployment.Status.AvailableReplicas
	}
	ready := readyCondition(foo, deployment, failure)
	ready.Type, ready.ObservedGeneration, ready.LastTransitionTime = conditionReady, foo.Generation, now
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// readyCondition returns the status, reason and message of foo's condition Ready.
func readyCondition(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment, failure error) metav1.Condition {
	notReady := func(reason, message string) metav1.Condition {
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: message}
	}
	switch {
	case failure != nil:
		reason, message := whyNotReady(failure)
		// The text of a refusal may differ each time, for example by what a quota has left. Keep the
		// first one, so that a retry writes nothing.
		before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady)
		if before != nil && before.Reason == reason && before.ObservedGeneration == foo.Generation {
			message = before.Message
		}
		return notReady(reason, message)
	case !metav1.IsControlledBy(deployment, foo):
		return notReady(errResourceExists, fmt.Sprintf("Deployment %q exists and is not controlled by this Foo: delete it or choose another deploymentName", deployment.Name))
	case !deployment.DeletionTimestamp.IsZero():
		return notReady(reasonTerminating, fmt.Sprintf("Deployment %q is being deleted and will be created again", deployment.Name))
	}
	progress := fmt.Sprintf("%d of %d replicas of Deployment %q are available", deployment.Status.AvailableReplicas, replicasOf(deployment), deployment.Name)
	if rolledOut(deployment) {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reasonAvailable, Message: progress}
	}
	if obstacle := obstacle(deployment); obstacle != nil {
		return notReady(obstacle.Reason, obstacle.Message)
	}
	return notReady(reasonProgressing, progress)
}

// obstacle returns the Deployment's own condition that says why it gets no Pods, for example because
// of a quota, or why its rollout makes no progress. It returns nil if there is none.
func obstacle(deployment *appsv1.Deployment) *appsv1.DeploymentCondition {
	var found *appsv1.DeploymentCondition
	for i, condition := range deployment.Status.Conditions {
		switch {
		case condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue:
			return &deployment.Status.Conditions[i]
		case condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse:
			found = &deployment.Status.Conditions[i]
		}
	}
	return found
}

// rolledOut reports whether the Deployment controller has seen the latest spec and has finished the
// rollout.
func rolledOut(deployment *appsv1.Deployment) bool {
	want, status := replicasOf(deployment), deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want
}
