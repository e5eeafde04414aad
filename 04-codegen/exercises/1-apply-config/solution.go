//go:build solution

// Package applyconfig is about the fields that an apply sends.
package applyconfig

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
)

// Apply gives app's Deployment the values that app asks for. (The caller has already checked that
// it may change this Deployment.)
//
// It sends these fields and no others: the label app with app's name, for the Pods and in the
// selector, one container with app's image, paused, and the number of replicas if app sets it. It
// takes these fields over, even if someone else has changed them. All other fields keep their
// values and their owners.
func Apply(ctx context.Context, deployments typedappsv1.DeploymentInterface, app *App) error {
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	if _, err := deployments.Apply(ctx, desiredDeployment(app), options); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", app.Name, err)
	}
	return nil
}

// desiredDeployment computes the desired state from app alone. It doesn't need the existing
// Deployment.
func desiredDeployment(app *App) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": app.Name}
	spec := appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		// Always sent. In an apply configuration, a bool is a pointer, so even false is sent.
		WithPaused(app.Paused).
		WithTemplate(corev1ac.PodTemplateSpec().
			WithLabels(labels).
			WithSpec(corev1ac.PodSpec().
				WithContainers(corev1ac.Container().
					WithName("app").
					WithImage(app.Image))))
	// Sent only if the App sets it. Even if we sent the existing number, we would own the field.
	if app.Replicas != nil {
		spec.WithReplicas(*app.Replicas)
	}
	return appsv1ac.Deployment(app.Name, app.Namespace).WithSpec(spec)
}
