//go:build !solution

// Package applyconfig is about what an apply says.
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

// Apply makes app's Deployment what app asks for. (Whose it is, the caller has looked at.)
//
// It sends what app says, and nothing else: the label app, which is app's name, for Pods and selector; one container with
// app's image; whether rollouts are paused; and the number of replicas, if app says one. These fields are the controller's,
// no matter who has changed them. All others are someone else's, or nobody's, and stay so.
func Apply(ctx context.Context, deployments typedappsv1.DeploymentInterface, app *App) error {
	// YOUR WORK: a good Update, and no good apply.
	deployment, err := deployments.Get(ctx, app.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		deployment = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
	} else if err != nil {
		return fmt.Errorf("get Deployment %s: %w", app.Name, err)
	}
	change(deployment, app)

	deployment.ManagedFields = nil // else the server refuses it
	desired, err := asApplyConfiguration(deployment)
	if err != nil {
		return err
	}
	if _, err := deployments.Apply(ctx, desired, metav1.ApplyOptions{FieldManager: fieldManager, Force: true}); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", app.Name, err)
	}
	return nil
}

// change sets what app says, and leaves all else as it is.
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

// asApplyConfiguration turns one into the other. Both have the same JSON.
func asApplyConfiguration(deployment *appsv1.Deployment) (*appsv1ac.DeploymentApplyConfiguration, error) {
	text, err := json.Marshal(deployment)
	if err != nil {
		return nil, err
	}
	desired := appsv1ac.Deployment(deployment.Name, deployment.Namespace)
	return desired, json.Unmarshal(text, desired)
}
