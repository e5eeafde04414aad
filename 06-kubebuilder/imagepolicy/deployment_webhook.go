// The webhook. `kubebuilder create webhook --group apps --version v1 --kind Deployment
// --programmatic-validation` creates this type and its methods, without the rule.

package main

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// SetupDeploymentWebhookWithManager registers the webhook at mgr's webhook server, with the path
// /validate-apps-v1-deployment.
func SetupDeploymentWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &appsv1.Deployment{}).
		WithValidator(&DeploymentValidator{Cache: mgr.GetClient()}).
		Complete()
}

// DeploymentValidator refuses a Deployment with an image that isn't allowed.
type DeploymentValidator struct {
	Cache client.Reader // has the ConfigMap
}

var _ admission.Validator[*appsv1.Deployment] = &DeploymentValidator{}

// ValidateCreate validates a new Deployment.
func (v *DeploymentValidator) ValidateCreate(ctx context.Context, deployment *appsv1.Deployment) (admission.Warnings, error) {
	return nil, v.refuse(ctx, nil, deployment)
}

// ValidateUpdate validates new images only. If no image changes, it doesn't even read the ConfigMap.
func (v *DeploymentValidator) ValidateUpdate(ctx context.Context, old, deployment *appsv1.Deployment) (admission.Warnings, error) {
	if slices.Equal(images(old), images(deployment)) {
		return nil, nil
	}
	return nil, v.refuse(ctx, old, deployment)
}

// ValidateDelete refuses nothing. The API server doesn't call it.
func (v *DeploymentValidator) ValidateDelete(context.Context, *appsv1.Deployment) (admission.Warnings, error) {
	return nil, nil
}

// refuse returns an error if an image isn't allowed, or if the list can't be read.
func (v *DeploymentValidator) refuse(ctx context.Context, old, deployment *appsv1.Deployment) error {
	configMap := &corev1.ConfigMap{}
	if err := v.Cache.Get(ctx, policyKey, configMap); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("read the allowed registries: %w", err))
	}
	if refused := refusedImages(old, deployment, allowedRegistries(configMap)); len(refused) > 0 {
		return apierrors.NewInvalid(appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), deployment.Name, refused)
	}
	return nil
}
