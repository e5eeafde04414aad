// Package v2 has the webhook for TDSets, which the API server calls before it stores one. It warns
// of a schedule that is valid but may not be what was meant, which no rule in a CRD can do, and
// refuses an invalid one.
//
// A webhook is no guarantee: TDSets may have been stored before it was installed, and it is
// optional. So the controller relies on nothing that is checked here. Most invalid schedules never
// get here, because the API server checks the CRD's rules first. They do if the CRD is older than
// this program, or if this program doesn't know a time zone that the API server knows.
//
// The webhook only knows v2. The API server converts requests in v1 before it calls the webhook
// (matchPolicy Equivalent, the default).
package v2

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// SetupTDSetWebhookWithManager registers the webhook for TDSets at mgr's webhook server, and at
// /convert the conversion between their versions. The scheme must have both.
func SetupTDSetWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &schedulev2.TDSet{}).WithValidator(TDSetValidator{}).Complete()
}

// config/webhook/manifests.yaml is generated from this marker. With failurePolicy=fail the API
// server refuses a write if the webhook is down, so it calls the webhook only if the answer may
// matter. It doesn't for a change of an image, a label or a finalizer (see the condition below), a
// status (not among the resources) or a deletion (not among the verbs).
//
// +kubebuilder:webhook:path=/validate-schedule-rs-v2-tdset,mutating=false,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=schedule.rs,resources=tdsets,verbs=create;update,versions=v2,name=vtdset-v2.kb.io,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"schedule-changes","expression":"oldObject == null || object.?spec.?windows != oldObject.?spec.?windows || object.?spec.?timeZone != oldObject.?spec.?timeZone || object.?spec.?defaultReplicas != oldObject.?spec.?defaultReplicas"}]}`

// TDSetValidator refuses an invalid schedule, and warns of one that may not be what was meant.
type TDSetValidator struct{}

var _ admission.Validator[*schedulev2.TDSet] = TDSetValidator{}

// ValidateCreate checks a new TDSet.
func (TDSetValidator) ValidateCreate(_ context.Context, tdset *schedulev2.TDSet) (admission.Warnings, error) {
	spec := field.NewPath("spec")
	if refused := schedule.Validate(&tdset.Spec, spec); len(refused) > 0 {
		return nil, apierrors.NewInvalid(schedulev2.GroupVersion.WithKind("TDSet").GroupKind(), tdset.Name, refused)
	}
	return schedule.Warnings(&tdset.Spec, spec), nil
}

// ValidateUpdate checks the schedule only if it has changed. If a stored schedule is invalid, users
// must still be able to change the TDSet's labels and image, and to delete it.
func (v TDSetValidator) ValidateUpdate(ctx context.Context, old, tdset *schedulev2.TDSet) (admission.Warnings, error) {
	sameSchedule := equality.Semantic.DeepEqual(old.Spec.Windows, tdset.Spec.Windows) &&
		old.Spec.TimeZone == tdset.Spec.TimeZone && old.Spec.DefaultReplicas == tdset.Spec.DefaultReplicas
	if sameSchedule || !tdset.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return v.ValidateCreate(ctx, tdset)
}

// ValidateDelete refuses nothing. The API server doesn't call the webhook for deletions.
func (TDSetValidator) ValidateDelete(context.Context, *schedulev2.TDSet) (admission.Warnings, error) {
	return nil, nil
}
