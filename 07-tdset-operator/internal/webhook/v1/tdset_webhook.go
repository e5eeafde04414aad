// Package v1 has the webhook for TDSets, which the API server calls before it stores one. It warns
// of a schedule that is valid but may not be what was meant, which no rule in a CRD can do, and
// refuses an invalid one.
//
// A webhook is no guarantee: TDSets may have been stored before it was installed, and it is
// optional. So the controller relies on nothing that is checked here. Most invalid schedules never
// get here, because the API server checks the CRD's rules first. They do if the CRD is older than
// this program, or if this program doesn't know a time zone that the API server knows.
package v1

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// SetupTDSetWebhookWithManager registers the webhook for TDSets at mgr's webhook server.
func SetupTDSetWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &schedulev1.TDSet{}).WithValidator(TDSetValidator{}).Complete()
}

// config/webhook/manifests.yaml is generated from this marker. With failurePolicy=fail the API
// server refuses a write if the webhook is down, so it calls the webhook only if the answer may
// matter. It doesn't for a change of an image, a label or a finalizer (see the condition below), a
// status (not among the resources) or a deletion (not among the verbs).
//
// +kubebuilder:webhook:path=/validate-schedule-rs-v1-tdset,mutating=false,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=schedule.rs,resources=tdsets,verbs=create;update,versions=v1,name=vtdset-v1.kb.io,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"schedule-changes","expression":"oldObject == null || object.?spec.?schedulingConfig != oldObject.?spec.?schedulingConfig || object.?spec.?timeZone != oldObject.?spec.?timeZone || object.?spec.?defaultReplica != oldObject.?spec.?defaultReplica"}]}`

// TDSetValidator refuses an invalid schedule, and warns of one that may not be what was meant.
type TDSetValidator struct{}

var _ admission.Validator[*schedulev1.TDSet] = TDSetValidator{}

// ValidateCreate checks a new TDSet.
func (TDSetValidator) ValidateCreate(_ context.Context, tdset *schedulev1.TDSet) (admission.Warnings, error) {
	spec := field.NewPath("spec")
	if refused := schedule.Validate(&tdset.Spec, spec); len(refused) > 0 {
		return nil, apierrors.NewInvalid(schedulev1.GroupVersion.WithKind("TDSet").GroupKind(), tdset.Name, refused)
	}
	return schedule.Warnings(&tdset.Spec, spec), nil
}

// ValidateUpdate checks the schedule only if it has changed. If a stored schedule is invalid, users
// must still be able to change the TDSet's labels and image, and to delete it.
func (v TDSetValidator) ValidateUpdate(ctx context.Context, old, tdset *schedulev1.TDSet) (admission.Warnings, error) {
	sameSchedule := slices.Equal(old.Spec.SchedulingConfig, tdset.Spec.SchedulingConfig) &&
		old.Spec.TimeZone == tdset.Spec.TimeZone && old.Spec.DefaultReplica == tdset.Spec.DefaultReplica
	if sameSchedule || !tdset.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return v.ValidateCreate(ctx, tdset)
}

// ValidateDelete refuses nothing. The API server doesn't call the webhook for deletions.
func (TDSetValidator) ValidateDelete(context.Context, *schedulev1.TDSet) (admission.Warnings, error) {
	return nil, nil
}
