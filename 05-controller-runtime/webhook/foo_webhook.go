// The webhooks: one sets a default that depends on another field, and the other looks at other Foos.
// A schema can do neither.

package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// SetupFooWebhookWithManager registers the webhooks for Foos at mgr's webhook server.
func SetupFooWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &samplecontrollerv1alpha1.Foo{}).
		WithDefaulter(FooDefaulter{}).
		WithValidator(&FooValidator{APIReader: mgr.GetAPIReader()}).
		Complete()
}

// FooDefaulter fills in what a Foo leaves out.
type FooDefaulter struct{}

var _ admission.Defaulter[*samplecontrollerv1alpha1.Foo] = FooDefaulter{}

// Default names the Deployment after its Foo.
func (FooDefaulter) Default(_ context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	if foo.Spec.DeploymentName == "" {
		foo.Spec.DeploymentName = foo.Name
	}
	return nil
}

// FooValidator refuses a Foo if another one asks for the same Deployment.
type FooValidator struct{ APIReader client.Reader }

var _ admission.Validator[*samplecontrollerv1alpha1.Foo] = &FooValidator{}

// ValidateCreate validates a new Foo. It lists by the field that the CRD declares as selectable, so
// the API server sends only the Foos with that deploymentName.
func (v *FooValidator) ValidateCreate(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	var others samplecontrollerv1alpha1.FooList
	name := foo.Spec.DeploymentName
	if err := v.APIReader.List(ctx, &others, client.InNamespace(foo.Namespace), client.MatchingFields{"spec.deploymentName": name}); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("list the Foos that ask for Deployment %q: %w", name, err))
	}
	if len(others.Items) == 0 {
		return nil, nil
	}
	duplicate := field.Duplicate(field.NewPath("spec", "deploymentName"), name)
	duplicate.Detail = fmt.Sprintf("Foo %q asks for it already", others.Items[0].Name)
	return nil, apierrors.NewInvalid(fooKind.GroupKind(), foo.Name, field.ErrorList{duplicate})
}

// ValidateUpdate refuses nothing. The API server doesn't call it, because register.go lists creates
// only.
func (v *FooValidator) ValidateUpdate(context.Context, *samplecontrollerv1alpha1.Foo, *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	return nil, nil
}

// ValidateDelete refuses nothing.
func (v *FooValidator) ValidateDelete(context.Context, *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	return nil, nil
}
