// What a Foo asks for: its Deployment, and its status. Nothing here reads from a cluster. It is a
// shorter version of the chapter's desired.go.

package main

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// The condition Ready and its reasons.
const (
	conditionReady    = "Ready"
	reasonAvailable   = "Available"
	reasonProgressing = "Progressing"
)

// desiredDeployment returns the Deployment that foo asks for, with only the fields that the
// controller owns.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
		WithLabels(labels).
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
					WithContainers(corev1ac.Container().WithName("nginx").WithImage("nginx:latest")))))
}

// desiredStatus returns the status that foo should have, given its Deployment. If nothing has
// changed, the result equals foo.Status.
func desiredStatus(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment) samplecontrollerv1alpha1.FooStatus {
	want, available := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status.AvailableReplicas
	ready := metav1.Condition{
		Type:               conditionReady,
		Status:             metav1.ConditionFalse,
		Reason:             reasonProgressing,
		Message:            fmt.Sprintf("%d of %d replicas of Deployment %q are available", available, want, deployment.Name),
		ObservedGeneration: foo.Generation,
	}
	if rolledOut(deployment) {
		ready.Status, ready.Reason = metav1.ConditionTrue, reasonAvailable
	}
	status := samplecontrollerv1alpha1.FooStatus{
		AvailableReplicas:  available,
		ObservedGeneration: foo.Generation,
		Conditions:         slices.Clone(foo.Status.Conditions),
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}

// rolledOut reports whether the Deployment controller has seen the latest spec and has finished the
// rollout.
func rolledOut(deployment *appsv1.Deployment) bool {
	want, status := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want
}
