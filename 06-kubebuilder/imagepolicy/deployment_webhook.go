// The webhook. `kubebuilder create webhook --group apps --version v1 --kind Deployment
// --programmatic-validation` creates this type and its methods, without the rule: each image comes
// from one of the allowed registries. manifests/policy.yaml has the same rule in CEL.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// policyKey is the ConfigMap with the allowed registries.
var policyKey = client.ObjectKey{Namespace: "image-policy-system", Name: "image-policy"}

// SetupDeploymentWebhookWithManager registers the webhook at mgr's webhook server, with the path
// /validate-apps-v1-deployment.
func SetupDeploymentWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &appsv1.Deployment{}).
		WithValidator(&DeploymentValidator{mgr.GetClient()}).
		Complete()
}

// DeploymentValidator refuses a Deployment with an image that isn't allowed. It reads the ConfigMap
// from the manager's cache.
type DeploymentValidator struct{ client.Reader }

var _ admission.Validator[*appsv1.Deployment] = &DeploymentValidator{}

// ValidateCreate validates all images of a new Deployment.
func (v *DeploymentValidator) ValidateCreate(ctx context.Context, deployment *appsv1.Deployment) (admission.Warnings, error) {
	return nil, v.validate(ctx, nil, imagesOf(deployment), deployment.Name)
}

// ValidateUpdate accepts the images that the old Deployment has already, so that a Deployment from
// before the rule can still be changed.
func (v *DeploymentValidator) ValidateUpdate(ctx context.Context, old, deployment *appsv1.Deployment) (admission.Warnings, error) {
	return nil, v.validate(ctx, imagesOf(old), imagesOf(deployment), deployment.Name)
}

// ValidateDelete refuses nothing. The API server doesn't call it.
func (v *DeploymentValidator) ValidateDelete(context.Context, *appsv1.Deployment) (admission.Warnings, error) {
	return nil, nil
}

// validate returns an error that names each image that is neither stored nor allowed, or says that
// the list of allowed registries can't be read.
func (v *DeploymentValidator) validate(ctx context.Context, stored, images []imageField, deployment string) error {
	configMap := &corev1.ConfigMap{}
	if err := v.Get(ctx, policyKey, configMap); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("read the allowed registries: %w", err))
	}
	registries := strings.Fields(configMap.Data["allowed"]) // one a line, or a path in one
	var refused field.ErrorList
	for _, f := range images {
		isStored := slices.ContainsFunc(stored, func(old imageField) bool { return old.image == f.image })
		// Compare whole parts of the path, because registry.example.com/team must not allow
		// registry.example.com/team-of-others.
		isAllowed := slices.ContainsFunc(registries, func(registry string) bool {
			return strings.HasPrefix(f.image, strings.TrimSuffix(registry, "/")+"/")
		})
		if !isStored && !isAllowed {
			message := fmt.Sprintf("must come from one of [%s]", strings.Join(registries, ", "))
			refused = append(refused, field.Invalid(f.path, f.image, message))
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return apierrors.NewInvalid(appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), deployment, refused)
}

// imageField is the image of a container, and the field that names it.
type imageField struct {
	image string
	path  *field.Path
}

func imagesOf(deployment *appsv1.Deployment) (images []imageField) {
	pod, path := deployment.Spec.Template.Spec, field.NewPath("spec", "template", "spec")
	for i, container := range pod.Containers {
		images = append(images, imageField{container.Image, path.Child("containers").Index(i).Child("image")})
	}
	for i, container := range pod.InitContainers {
		images = append(images, imageField{container.Image, path.Child("initContainers").Index(i).Child("image")})
	}
	return images
}
