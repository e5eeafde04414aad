//go:build !solution

// Package applyconfig is about the fields that an apply sends.
package applyconfig

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
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
	// YOUR WORK: this would be fine for an Update, but an apply shouldn't send what it has read.
	deployment, err := deployments.Get(ctx, app.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		deployment = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
	} else if err != nil {
		return fmt.Errorf("get Deployment %s: %w", app.Name, err)
	}
	change(deployment, app)

	deployment.ManagedFields = nil // otherwise the server refuses the apply
	desired, err := asApplyConfiguration(deployment)
	if err != nil {
		return err
	}
	if _, err := deployments.Apply(ctx, desired, metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", app.Name, err)
	}
	return nil
}

// change sets the fields that app asks for, and leaves all others alone.
func change(deployment *appsv1.Deployment, app *App) {
	labels := map[string]string{"app": app.Name}
	spec, template := &deployment.Spec, &deployment.Spec.Template
	spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	spec.Paused = app.Paused
	if app.Replicas != nil {
		spec.Replicas = app.Replicas
	}
	metav1.SetMetaDataLabel(&template.ObjectMeta, "app", app.Name)
	i := slices.IndexFunc(template.Spec.Containers, func(c corev1.Container) bool { return c.Name == "app" })
	if i < 0 {
		i = len(template.Spec.Containers)
		template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: "app"})
	}
	template.Spec.Containers[i].Image = app.Image
}

// asApplyConfiguration converts a Deployment into an apply configuration. Both have the same JSON.
func asApplyConfiguration(deployment *appsv1.Deployment) (*appsv1ac.DeploymentApplyConfiguration, error) {
	text, err := json.Marshal(deployment)
	if err != nil {
		return nil, err
	}
	desired := appsv1ac.Deployment(deployment.Name, deployment.Namespace)
	return desired, json.Unmarshal(text, desired)
}
