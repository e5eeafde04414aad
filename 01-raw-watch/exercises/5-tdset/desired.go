// The pure core: what a TDSet wants, whether a Deployment is so, and what the TDSet's status should say. Nothing here
// reads a cluster, a clock or a flag.

package main

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The condition and its reasons.
const (
	conditionReady    = "Ready"
	reasonAsScheduled = "AsScheduled"
	reasonProgressing = "Progressing"
	reasonTerminating = "Terminating"
	errResourceExists = "ErrResourceExists"
)

const containerName = "app"

// desiredDeployment returns the Deployment that tdset wants, with so many replicas, and with those fields only that the
// controller sets.
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

// upToDate reports whether observed has what desired sets. All else is someone else's.
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

// hasContainer reports whether a container of want's name is there and has want's image and its one port.
func hasContainer(containers []corev1.Container, want corev1.Container) bool {
	return slices.ContainsFunc(containers, func(container corev1.Container) bool {
		return container.Name == want.Name &&
			container.Image == want.Image &&
			len(container.Ports) == 1 && container.Ports[0].ContainerPort == want.Ports[0].ContainerPort
	})
}

// replicasOf reads spec.replicas, for which nil means 1.
func replicasOf(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

// merge returns observed with what desired sets put over it, and all else left as it is.
func merge(observed, desired *appsv1.Deployment) *appsv1.Deployment {
	merged := observed.DeepCopy()
	merged.Labels = withLabels(merged.Labels, desired.Labels)
	merged.Spec.Replicas = desired.Spec.Replicas
	template := &merged.Spec.Template
	template.Labels = withLabels(template.Labels, desired.Spec.Template.Labels)
	want := desired.Spec.Template.Spec.Containers[0]
	for i := range template.Spec.Containers {
		if container := &template.Spec.Containers[i]; container.Name == want.Name {
			container.Image, container.Ports = want.Image, want.Ports
			return merged
		}
	}
	template.Spec.Containers = append(template.Spec.Containers, want)
	return merged
}

// withLabels returns labels with those in want set.
func withLabels(labels, want map[string]string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, want)
	return labels
}

// controls reports whether deployment is tdset's to change: tdset is its controller by UID, and it isn't being deleted.
func controls(tdset *TDSet, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, tdset) && deployment.DeletionTimestamp.IsZero()
}

// desiredStatus returns what tdset's status should say of the Deployment of its name, while that window is active, at the
// time now. Where it would say what it says already, the result equals tdset.Status, times included: then there is
// nothing to write.
func desiredStatus(tdset *TDSet, deployment *appsv1.Deployment, window int, now metav1.Time) TDSetStatus {
	ready := metav1.Condition{
		Type:               conditionReady,
		Status:             metav1.ConditionFalse,
		ObservedGeneration: tdset.Generation,
		LastTransitionTime: now,
	}
	switch {
	case !metav1.IsControlledBy(deployment, tdset):
		ready.Reason = errResourceExists
		ready.Message = fmt.Sprintf("Deployment %q exists and is not controlled by this TDSet: delete it, or give the TDSet another name", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		ready.Reason = reasonTerminating
		ready.Message = fmt.Sprintf("Deployment %q is being deleted and will be made again", deployment.Name)
	default:
		ready.Reason = reasonProgressing
		ready.Message = fmt.Sprintf("%s: %d of %d replicas are available",
			hoursOf(tdset.Spec, window), deployment.Status.AvailableReplicas, replicasOf(deployment))
		if rolledOut(deployment) {
			ready.Status = metav1.ConditionTrue
			ready.Reason = reasonAsScheduled
		}
	}
	status := TDSetStatus{ObservedGeneration: tdset.Generation, Conditions: slices.Clone(tdset.Status.Conditions)}
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// hoursOf names the active window.
func hoursOf(spec TDSetSpec, window int) string {
	if window == noWindow {
		return "outside of all windows"
	}
	return fmt.Sprintf("from hour %d to %d", spec.SchedulingConfig[window].StartTime, spec.SchedulingConfig[window].EndTime)
}

// rolledOut reports whether the Deployment controller has seen the latest spec and all that it asks for is there.
func rolledOut(deployment *appsv1.Deployment) bool {
	want, status := replicasOf(deployment), deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want
}
