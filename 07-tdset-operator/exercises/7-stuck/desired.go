// What a TDSet asks for. It is a shorter version of the chapter's desired.go.

package main

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// The labels of everything that the controller makes. The value of both is the TDSet's name.
const (
	appLabel   = "app" // dashboards and NetworkPolicies select by it
	tdsetLabel = "schedule.rs/tdset"
)

func labelsOf(tdset *schedulev2.TDSet) map[string]string {
	return map[string]string{appLabel: tdset.Name, tdsetLabel: tdset.Name}
}

// desiredDeployment returns tdset's Deployment with that many replicas, with only the fields that
// the controller owns.
func desiredDeployment(tdset *schedulev2.TDSet, replicas int32) *appsv1ac.DeploymentApplyConfiguration {
	return appsv1ac.Deployment(tdset.Name, tdset.Namespace).
		WithLabels(labelsOf(tdset)).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(schedulev2.GroupVersion.String()).
			WithKind("TDSet").
			WithName(tdset.Name).
			WithUID(tdset.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(replicas).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labelsOf(tdset))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labelsOf(tdset)).
				WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().
						WithName("app").
						WithImage(tdset.Spec.Container.Image).
						WithPorts(corev1ac.ContainerPort().WithContainerPort(tdset.Spec.Container.Port))))))
}

// replicasOf returns spec.replicas, where nil means 1.
func replicasOf(deployment *appsv1.Deployment) int32 { return ptr.Deref(deployment.Spec.Replicas, 1) }
