//go:build solution

// Package applyconfig is about what an apply says.
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

// Apply makes app's Deployment what app asks for. (Whose it is, the caller has looked at.)
//
// It sends what app says, and nothing else: the label app, which is app's name, for Pods and selector; one container with
// app's image; whether rollouts are paused; and the number of replicas, if app says one. These fields are the controller's,
// no matter who has changed them. All others are someone else's, or nobody's, and stay so.
func Apply(ctx context.Context, deployments typedappsv1.DeploymentInterface, app *App) error {
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	if _, err := deployments.Apply(ctx, desiredDeployment(app), options); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", app.Name, err)
	}
	return nil
}

// desiredDeployment returns the desired state, computed from app alone: the present Deployment adds nothing to it.
func desiredDeployment(app *App) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": app.Name}
	spec := appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		// Said in any case: every field is a pointer here, so there is a false that is sent.
		WithPaused(app.Paused).
		WithTemplate(corev1ac.PodTemplateSpec().
			WithLabels(labels).
			WithSpec(corev1ac.PodSpec().
				WithContainers(corev1ac.Container().
					WithName("app").
					WithImage(app.Image))))
	// Said only if the App does. Even the number that is there already would make the field ours.
	if app.Replicas != nil {
		spec.WithReplicas(*app.Replicas)
	}
	return appsv1ac.Deployment(app.Name, app.Namespace).WithSpec(spec)
}
