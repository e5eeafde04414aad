//go:build solution

// Command 7-busy is a controller for Foos. A Foo asks for a Deployment, and its status says how
// many Pods are available.
package main

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/listers"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// syncHandler makes the cluster match the Foo with that key.
func (c *controller) syncHandler(ctx context.Context, key types.NamespacedName) error {
	// 1. Read the Foo. If it is gone or being deleted, the garbage collector deletes its Deployment.
	foo, err := listers.NewNamespaced(c.foosLister, key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get Foo: %w", err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return nil
	}

	// 2. Create or update its Deployment. A write causes an event, and that event leads to the
	// remaining step.
	deployment, err := c.syncDeployment(ctx, foo)
	if err != nil || deployment == nil {
		return err
	}

	// 3. Update the status.
	status := desiredStatus(foo, deployment, metav1.Now())
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	klog.FromContext(ctx).V(2).Info("Updating the status", "availableReplicas", status.AvailableReplicas)
	updated := foo.DeepCopy()
	updated.Status = status
	if _, err := c.foos.Foos(foo.Namespace).UpdateStatus(ctx, updated, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}

// syncDeployment returns foo's Deployment, or nil if it has just created or updated it.
func (c *controller) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (*appsv1.Deployment, error) {
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	deployments := c.kube.AppsV1().Deployments(foo.Namespace)
	observed, err := c.deploymentsLister.Deployments(foo.Namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		klog.FromContext(ctx).Info("Creating", "deployment", klog.KRef(foo.Namespace, name))
		if _, err := deployments.Create(ctx, desired, metav1.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("create Deployment %s: %w", name, err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", name, err)
	case !metav1.IsControlledBy(observed, foo), upToDate(observed, desired):
		return observed, nil
	}
	klog.FromContext(ctx).Info("Updating", "deployment", klog.KObj(observed))
	updated := observed.DeepCopy()
	updated.Spec.Replicas = desired.Spec.Replicas
	updated.Spec.Template.Spec.Containers[0].Image = desired.Spec.Template.Spec.Containers[0].Image
	if _, err := deployments.Update(ctx, updated, metav1.UpdateOptions{}); err != nil {
		return nil, fmt.Errorf("update Deployment %s: %w", name, err)
	}
	return nil, nil
}

// desiredDeployment returns the Deployment that foo asks for.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:            foo.Spec.DeploymentName,
			Namespace:       foo.Namespace,
			Labels:          labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: foo.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
			},
		},
	}
}

// upToDate reports whether observed has the values that a Foo decides on.
func upToDate(observed, desired *appsv1.Deployment) bool {
	return ptr.Equal(observed.Spec.Replicas, desired.Spec.Replicas) &&
		observed.Spec.Template.Spec.Containers[0].Image == desired.Spec.Template.Spec.Containers[0].Image
}

// desiredStatus returns the status that foo should have, given its Deployment.
func desiredStatus(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment, now metav1.Time) samplecontrollerv1alpha1.FooStatus {
	want, observed := ptr.Deref(deployment.Spec.Replicas, 1), deployment.Status
	status := samplecontrollerv1alpha1.FooStatus{
		AvailableReplicas:  observed.AvailableReplicas,
		ObservedGeneration: foo.Generation,
		Conditions:         slices.Clone(foo.Status.Conditions),
	}
	ready := metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionFalse,
		ObservedGeneration: foo.Generation,
		LastTransitionTime: now,
		Reason:             "Progressing",
		Message:            fmt.Sprintf("%d of %d replicas of Deployment %q are available", observed.AvailableReplicas, want, deployment.Name),
	}
	switch {
	case !metav1.IsControlledBy(deployment, foo):
		status.AvailableReplicas = 0
		ready.Reason = "ErrResourceExists"
		ready.Message = fmt.Sprintf("Deployment %q exists and is not controlled by this Foo", deployment.Name)
	case observed.ObservedGeneration >= deployment.Generation && observed.UpdatedReplicas == want && observed.AvailableReplicas == want:
		ready.Status = metav1.ConditionTrue
		ready.Reason = "Available"
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	return status
}
