// The pure core. It builds the Deployment that a TDSet asks for, checks whether a Deployment
// matches it, and computes the TDSet's status. Nothing here reads from a cluster, a clock or a
// flag.

package main

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The condition and its reasons.
const (
	conditionReady         = "Ready"
	reasonAsScheduled      = "AsScheduled"
	reasonProgressing      = "Progressing"
	reasonTerminating      = "Terminating"
	reasonRefused          = "Refused" // by the API server
	reasonFailed           = "Failed"  // for another reason
	reasonReplicaFailure   = "ReplicaFailure"
	reasonDeadlineExceeded = "ProgressDeadlineExceeded"
	reasonResourceExists   = "ErrResourceExists"
)

const containerName = "app"

// desiredDeployment returns the Deployment that tdset asks for, with that number of replicas. It
// sets only the fields that the controller owns.
func desiredDeployment(tdset *TDSet, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": tdset.Name}
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Name:      tdset.Name,
			Namespace: tdset.Namespace,
			Labels:    labels,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(tdset, groupVersion.WithKind("TDSet")),
			},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{
						Name:  containerName,
						Image: tdset.Spec.Container.Image,
						Ports: []corev1.ContainerPort{{ContainerPort: tdset.Spec.Container.Port}},
					}},
				},
			},
		},
	}
}

// upToDate reports whether observed has the values that desired sets. The other fields belong to
// someone else.
func upToDate(observed, desired *appsv1.Deployment) bool {
	return hasLabels(observed.Labels, desired.Labels) &&
		hasLabels(observed.Spec.Template.Labels, desired.Spec.Template.Labels) &&
		replicasOf(observed) == replicasOf(desired) &&
		hasContainer(observed.Spec.Template.Spec.Containers, desired.Spec.Template.Spec.Containers[0])
}

// hasLabels reports whether labels has every label in want.
func hasLabels(labels, want map[string]string) bool {
	for key, value := range want {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// hasContainer reports whether one of containers has want's name and image, and only want's port.
func hasContainer(containers []corev1.Container, want corev1.Container) bool {
	return slices.ContainsFunc(containers, func(container corev1.Container) bool {
		return container.Name == want.Name &&
			container.Image == want.Image &&
			len(container.Ports) == 1 && container.Ports[0].ContainerPort == want.Ports[0].ContainerPort
	})
}

// replicasOf returns spec.replicas, where nil means 1.
func replicasOf(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

// controls reports whether tdset may change deployment: its owner reference names tdset as the
// controller, by UID, and it isn't being deleted.
func controls(tdset *TDSet, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, tdset) && deployment.DeletionTimestamp.IsZero()
}

// desiredStatus returns the status that tdset should have. deployment is the Deployment of its name,
// window is the active one, and failure is the error that syncDeployment returned. deployment may
// only be nil after a failure. If nothing has changed, the result equals tdset.Status, including its
// times, so no write is needed.
func desiredStatus(tdset *TDSet, deployment *appsv1.Deployment, window int, failure error, now metav1.Time) TDSetStatus {
	ready := metav1.Condition{
		Type:               conditionReady,
		Status:             metav1.ConditionFalse,
		ObservedGeneration: tdset.Generation,
		LastTransitionTime: now,
	}
	switch {
	case failure != nil:
		ready.Reason, ready.Message = reasonFailed, "The last attempt failed: the controller's log says why"
		if isRefusal(failure) {
			ready.Reason, ready.Message = reasonRefused, failure.Error()
		}
		// A refusal's text may differ each time, for example because it says how much of a quota is
		// used. Keep the first text, so that a retry writes nothing.
		before := meta.FindStatusCondition(tdset.Status.Conditions, conditionReady)
		if before != nil && before.Reason == ready.Reason && before.ObservedGeneration == tdset.Generation {
			ready.Message = before.Message
		}
	case !metav1.IsControlledBy(deployment, tdset):
		ready.Reason = reasonResourceExists
		ready.Message = fmt.Sprintf("Deployment %q exists and is not controlled by this TDSet: delete it, or give the TDSet another name", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		ready.Reason = reasonTerminating
		ready.Message = fmt.Sprintf("Deployment %q is being deleted and will be created again", deployment.Name)
	default:
		ready.Reason = reasonProgressing
		ready.Message = fmt.Sprintf("%s: %d of %d replicas are available",
			hoursOf(tdset.Spec, window), deployment.Status.AvailableReplicas, replicasOf(deployment))
		if rolledOut(deployment) {
			ready.Status, ready.Reason = metav1.ConditionTrue, reasonAsScheduled
			break
		}
		// The Deployment's own conditions say why it gets no Pods (a quota, for example) or why its
		// rollout makes no progress. The first is often the cause of the second, so it wins.
		for _, condition := range deployment.Status.Conditions {
			switch {
			case condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue:
				ready.Reason, ready.Message = reasonReplicaFailure, condition.Message
			case ready.Reason == reasonProgressing && condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse:
				ready.Reason, ready.Message = reasonDeadlineExceeded, condition.Message
			}
		}
	}
	status := TDSetStatus{ObservedGeneration: tdset.Generation, Conditions: slices.Clone(tdset.Status.Conditions)}
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// hoursOf describes the active window.
func hoursOf(spec TDSetSpec, window int) string {
	if window == noWindow {
		return "outside of all windows"
	}
	return fmt.Sprintf("from hour %d to %d", spec.SchedulingConfig[window].StartTime, spec.SchedulingConfig[window].EndTime)
}

// rolledOut reports whether the Deployment controller has seen the latest spec and has finished the
// rollout.
func rolledOut(deployment *appsv1.Deployment) bool {
	want, status := replicasOf(deployment), deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want
}
