// Package v1 has the webhook for TDSets: what the API server asks before it stores one. It warns of a schedule that is legal and may
// still not be what was meant, which no rule in a CRD can do, and refuses what makes no sense.
//
// A webhook is no guarantee. TDSets may have been stored before it was there, and it may be left out. So the controller relies on
// nothing that is checked here. With the CRD of this project there is hardly anything left to refuse: its rules are looked at first,
// and say the same. What is left is a CRD that is older than this program, and a zone that the API server knows and this program doesn't.
package v1

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// SetupTDSetWebhookWithManager registers the webhook for TDSets at mgr's webhook server.
func SetupTDSetWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &v1.TDSet{}).WithValidator(TDSetValidator{}).Complete()
}

// config/webhook/manifests.yaml is made from this marker. With failurePolicy=fail the API server refuses what it can't ask about; so it
// asks only where the answer may matter: not about an image, a label or a finalizer (the condition below), nor a status (an endpoint of
// its own, not among the resources), nor about a deletion (not among the verbs).
//
// +kubebuilder:webhook:path=/validate-schedule-rs-v1-tdset,mutating=false,failurePolicy=fail,sideEffects=None,timeoutSeconds=5,groups=schedule.rs,resources=tdsets,verbs=create;update,versions=v1,name=vtdset-v1.kb.io,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"schedule-changes","expression":"oldObject == null || object.?spec.?schedulingConfig != oldObject.?spec.?schedulingConfig || object.?spec.?timeZone != oldObject.?spec.?timeZone || object.?spec.?defaultReplica != oldObject.?spec.?defaultReplica"}]}`

// TDSetValidator refuses a schedule that makes no sense, and warns of one that may not be what was meant.
type TDSetValidator struct{}

var _ admission.Validator[*v1.TDSet] = TDSetValidator{}

// ValidateCreate judges a new TDSet.
func (TDSetValidator) ValidateCreate(_ context.Context, tdset *v1.TDSet) (admission.Warnings, error) {
	spec := field.NewPath("spec")
	if refused := schedule.Validate(&tdset.Spec, spec); len(refused) > 0 {
		return nil, apierrors.NewInvalid(v1.GroupVersion.WithKind("TDSet").GroupKind(), tdset.Name, refused)
	}
	return schedule.Warnings(&tdset.Spec, spec), nil
}

// ValidateUpdate judges a schedule that has changed, and nothing else: whatever is wrong with one that was stored once, its TDSet's
// labels, finalizers and image must stay free to change, and a TDSet that is being deleted must be able to go.
func (v TDSetValidator) ValidateUpdate(ctx context.Context, old, tdset *v1.TDSet) (admission.Warnings, error) {
	if !scheduleChanges(&old.Spec, &tdset.Spec) || !tdset.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return v.ValidateCreate(ctx, tdset)
}

func scheduleChanges(old, spec *v1.TDSetSpec) bool {
	return !slices.Equal(old.SchedulingConfig, spec.SchedulingConfig) ||
		old.TimeZone != spec.TimeZone || old.DefaultReplica != spec.DefaultReplica
}

// ValidateDelete refuses nothing. The API server doesn't ask about deletions at all.
func (TDSetValidator) ValidateDelete(context.Context, *v1.TDSet) (admission.Warnings, error) {
	return nil, nil
}
