// Package v1alpha1 has the webhooks for Foos, which the API server calls before it stores a Foo. The
// defaulter sets a field that depends on another field. The validator looks at other objects in the
// namespace. A schema can do neither.
//
// A webhook guarantees nothing. Two Foos that are created at once may both pass, because neither is
// stored yet, and some Foos may be older than the webhook. So the controller doesn't rely on it.
package v1alpha1

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// SetupFooWebhookWithManager registers the webhooks for Foos with mgr's webhook server.
func SetupFooWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &samplecontrollerv1alpha1.Foo{}).
		WithDefaulter(FooDefaulter{}).
		WithValidator(&FooValidator{APIReader: mgr.GetAPIReader()}).
		Complete()
}

// controller-gen writes config/webhook/manifests.yaml from these markers. With failurePolicy=fail,
// the API server refuses a request if the webhook doesn't answer. So limit the calls to creates,
// and to updates that change deploymentName (matchConditions). Deletes aren't in verbs, and a
// status write or a scale has a resource of its own (foos/status, foos/scale).
//
// +kubebuilder:webhook:path=/mutate-samplecontroller-k8s-io-v1alpha1-foo,mutating=true,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=samplecontroller.k8s.io,resources=foos,verbs=create;update,versions=v1alpha1,name=mfoo-v1alpha1.kb.io,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"deployment-name-changes","expression":"oldObject == null || object.?spec.?deploymentName != oldObject.?spec.?deploymentName"}]}`
// +kubebuilder:webhook:path=/validate-samplecontroller-k8s-io-v1alpha1-foo,mutating=false,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=samplecontroller.k8s.io,resources=foos,verbs=create;update,versions=v1alpha1,name=vfoo-v1alpha1.kb.io,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"deployment-name-changes","expression":"oldObject == null || object.?spec.?deploymentName != oldObject.?spec.?deploymentName"}]}`

// The validator reads from the API server, not from a cache, so it needs no watch.
//
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos,verbs=list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get

// FooDefaulter sets deploymentName if a Foo leaves it out.
type FooDefaulter struct{}

var _ admission.Defaulter[*samplecontrollerv1alpha1.Foo] = FooDefaulter{}

// Default names the Deployment after its Foo. With generateName, the Foo has no name yet, so the
// field stays empty and the schema refuses the Foo.
func (FooDefaulter) Default(_ context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	if foo.Spec.DeploymentName == "" {
		foo.Spec.DeploymentName = foo.Name
	}
	return nil
}

// FooValidator refuses a deploymentName that another Foo in the namespace asks for, and warns if
// somebody else's Deployment has that name. It reads from the API server, because a refusal must be
// right and a cache may be behind.
type FooValidator struct{ APIReader client.Reader }

var _ admission.Validator[*samplecontrollerv1alpha1.Foo] = &FooValidator{}

// ValidateCreate validates a new Foo.
func (v *FooValidator) ValidateCreate(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	if err := v.refuseDuplicate(ctx, foo); err != nil {
		return nil, err
	}
	return v.warnOfForeign(ctx, foo), nil
}

// ValidateUpdate only validates a changed deploymentName, so that users can still change the rest
// of a Foo whose deploymentName is a duplicate. It accepts every update of a Foo that is being
// deleted, or the Foo's finalizers might never be removed.
func (v *FooValidator) ValidateUpdate(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	if foo.Spec.DeploymentName == old.Spec.DeploymentName || !foo.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return v.ValidateCreate(ctx, foo)
}

// ValidateDelete does nothing, and the API server never calls it, because verbs leaves out delete.
// The interface admission.Validator requires it.
func (v *FooValidator) ValidateDelete(context.Context, *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	return nil, nil
}

// refuseDuplicate returns an error if another Foo asks for foo's deploymentName. A Foo that is
// being deleted doesn't count, because it gives up the name.
func (v *FooValidator) refuseDuplicate(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	name := foo.Spec.DeploymentName
	var foos samplecontrollerv1alpha1.FooList
	// The API server can select Foos by this field, because the CRD lists it in selectableFields.
	err := v.APIReader.List(ctx, &foos, client.InNamespace(foo.Namespace), client.MatchingFields{"spec.deploymentName": name})
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("list the Foos that ask for Deployment %q: %w", name, err))
	}
	for _, other := range foos.Items {
		if other.Name == foo.Name || !other.DeletionTimestamp.IsZero() {
			continue
		}
		duplicate := field.Duplicate(field.NewPath("spec", "deploymentName"), name)
		duplicate.Detail = fmt.Sprintf("Foo %q asks for it already: choose another name, or delete that Foo", other.Name)
		return apierrors.NewInvalid(samplecontrollerv1alpha1.GroupVersion.WithKind("Foo").GroupKind(), foo.Name, field.ErrorList{duplicate})
	}
	return nil
}

// warnOfForeign warns if a Deployment that foo doesn't control already has foo's deploymentName. If
// that Deployment can't be read, there is no warning, because that is no reason to refuse the Foo.
func (v *FooValidator) warnOfForeign(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) admission.Warnings {
	key := client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}
	var found appsv1.Deployment
	if err := v.APIReader.Get(ctx, key, &found); err != nil || metav1.IsControlledBy(&found, foo) {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("Deployment %q exists and isn't this Foo's: it won't be touched, and the Foo becomes Ready once it is gone", found.Name)}
}
