// The controller: what is done about a TDSet. Reconcile never asks what brought it here, an event (events.go) or the time: it compares what
// is with what should be now. desired.go and status.go say what that is, the package schedule what a time of day asks for; objects.go and
// drain.go do it, by the requests in write.go.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

const (
	shortestBackoff = 5 * time.Millisecond // after the first failure; doubled by each further one
	longestBackoff  = time.Minute
	afterConflict   = time.Second
)

// TDSetReconciler makes for each TDSet the Deployment and the Service that it asks for, and scales the Deployment by the time of day.
type TDSetReconciler struct {
	client.Client               // reads from the manager's cache, writes to the API server
	Live          client.Reader // reads from the API server
	Recorder      events.EventRecorder
	Clock         Clock
	DrainTimeout  time.Duration // a TDSet that is deleted is kept no longer, whatever its Pods do

	terminating terminatingOwners
}

// What the controller may do, and no more: config/rbac/role.yaml is made from these markers. An apply is a patch; one that makes an object
// needs create as well. A finalizer is a patch of the TDSet. An owner reference with blockOwnerDeletion may only be set by who may update
// the owner's finalizers (admission plugin OwnerReferencesPermissionEnforcement).
//
// +kubebuilder:rbac:groups=schedule.rs,resources=tdsets,verbs=list;watch;patch
// +kubebuilder:rbac:groups=schedule.rs,resources=tdsets/status,verbs=patch
// +kubebuilder:rbac:groups=schedule.rs,resources=tdsets/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile brings the cluster to what the TDSet of that key asks for at this time. Its result says when the answer may be another one,
// if nothing else happens before.
func (r *TDSetReconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	result, err := r.reconcile(ctx, key)
	if isConflict(err) {
		// No failure: what we read was a moment behind, and the event on its way brings us back. Should none come, the time does.
		ctrl.LoggerFrom(ctx).V(2).Info("Trying again", "reason", err.Error())
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	}
	return result, err
}

func (r *TDSetReconciler) reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	// 1. The TDSet.
	tdset := &v1.TDSet{}
	if err := r.Get(ctx, key.NamespacedName, tdset); err != nil {
		if apierrors.IsNotFound(err) {
			forget(key.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// 2. Is it being deleted? This comes before the finalizer is added: the API server takes no new ones then, and nothing must be made
	// for a TDSet that is going.
	if !tdset.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, tdset)
	}
	if !controllerutil.ContainsFinalizer(tdset, finalizer) {
		if err := r.addFinalizer(ctx, tdset); err != nil {
			return ctrl.Result{}, fmt.Errorf("add the finalizer: %w", err)
		}
	}

	// 3. What it wants at this time, and until when.
	now := r.Clock.Now()
	state, invalid := stateAt(tdset, now)
	if invalid != nil {
		// Nothing is changed until somebody changes the schedule, which brings us back.
		forget(key.NamespacedName)
		deployment, err := r.getDeployment(ctx, tdset)
		if apierrors.IsNotFound(err) {
			deployment, err = nil, nil
		}
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("get the Deployment: %w", err)
		}
		return ctrl.Result{}, r.syncStatus(ctx, tdset, observation{deployment: deployment, invalid: invalid}, now)
	}

	// 4. The Deployment and the Service. A write to them comes back as an event, and brings us here again for the status.
	deployment, wroteDeployment, errDeployment := r.syncDeployment(ctx, tdset, state.Replicas)
	service, wroteService, errService := r.syncService(ctx, tdset)
	refused, failed := sortErrors(errDeployment, errService)
	if failed != nil {
		return ctrl.Result{}, failed
	}
	measure(tdset, state.Replicas, deployment)

	// 5. The status, written only if it says something new.
	if !wroteDeployment && !wroteService {
		seen := observation{state: &state, deployment: deployment, service: service, refused: refused}
		if err := r.syncStatus(ctx, tdset, seen, now); err != nil {
			return ctrl.Result{}, err
		}
	}

	// 6. The time. For each key the queue keeps the earliest time only, and no event needs to come before that: so each call says it.
	result := r.comeAgain(tdset, state.Next)
	if refused != nil {
		// Tried again all the same: a quota may be raised, a policy changed. But whoever returns an error comes again by the queue's
		// pauses and at no other time, so the last minute before a boundary goes without.
		if result.RequeueAfter == 0 || result.RequeueAfter > longestBackoff {
			return ctrl.Result{}, refused
		}
		ctrl.LoggerFrom(ctx).Info("Refused by the API server", "err", refused.Error())
	}
	return result, nil
}

// stateAt returns what tdset's schedule asks for at an instant, or why it can't be told.
func stateAt(tdset *v1.TDSet, instant time.Time) (schedule.State, error) {
	if err := schedule.Validate(&tdset.Spec, field.NewPath("spec")).ToAggregate(); err != nil {
		return schedule.State{}, err
	}
	return schedule.At(&tdset.Spec, instant)
}

// errOverruled says that what was written has changed nothing, and isn't there.
var errOverruled = errors.New("what was written was changed back at once: by an admission webhook or policy?")

// sortErrors tells refusals, which stand in the status, from failures, which may go better the next time.
func sortErrors(all ...error) (refused, failed error) {
	for _, err := range all {
		switch {
		case isRefusal(err):
			refused = errors.Join(refused, err)
		default:
			failed = errors.Join(failed, err)
		}
	}
	return refused, failed
}

// isRefusal tells whether the API server will say the same again, as long as nobody changes the TDSet or the cluster's rules.
func isRefusal(err error) bool {
	return errors.Is(err, errOverruled) || apierrors.IsInvalid(err) && !isConflict(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// isConflict tells whether what a write has assumed of its object is no longer so: its resourceVersion; or its UID, to which the API server
// says that a UID can't be changed (422).
func isConflict(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return apierrors.IsConflict(err)
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool { return cause.Field == "metadata.uid" })
}

// syncStatus writes what tdset's status should say, unless it says so.
func (r *TDSetReconciler) syncStatus(ctx context.Context, tdset *v1.TDSet, seen observation, now time.Time) error {
	status := desiredStatus(tdset, seen, metav1.NewTime(now))
	if equality.Semantic.DeepEqual(tdset.Status, status) {
		return nil
	}
	ctrl.LoggerFrom(ctx).V(2).Info("Updating the status", "window", status.ActiveWindow)
	if err := r.updateStatus(ctx, tdset, status); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	measureTransition(tdset, seen, r.Clock.Now())
	r.recordEvent(tdset, status)
	return nil
}

// recordEvent tells tdset's users what its status says now, if that is something new. The status has just been written under the
// assumption that tdset is the latest there is, so nobody else has told them.
func (r *TDSetReconciler) recordEvent(tdset *v1.TDSet, status v1.TDSetStatus) {
	before := meta.FindStatusCondition(tdset.Status.Conditions, conditionDegraded)
	now := meta.FindStatusCondition(status.Conditions, conditionDegraded)
	wasDegraded := before != nil && before.Status == metav1.ConditionTrue
	if now.Status == metav1.ConditionTrue {
		if !wasDegraded || before.Reason != now.Reason {
			r.Recorder.Eventf(tdset, nil, corev1.EventTypeWarning, now.Reason, "Sync", "%s", now.Message)
		}
		return
	}
	if wasDegraded || tdset.Status.ActiveWindow != status.ActiveWindow || !ptr.Equal(tdset.Status.DesiredReplicas, status.DesiredReplicas) {
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeNormal, "Scaled", "Scale", "Window %s: %d replicas", status.ActiveWindow, *status.DesiredReplicas)
	}
}

// comeAgain returns the result that brings tdset at next, the zero time being never; and if intervalMint is set, no later than
// so many minutes from now.
func (r *TDSetReconciler) comeAgain(tdset *v1.TDSet, next time.Time) ctrl.Result {
	if interval := time.Duration(tdset.Spec.IntervalMint) * time.Minute; interval > 0 {
		if latest := r.Clock.Now().Add(interval); next.IsZero() || next.After(latest) {
			next = latest
		}
	}
	if next.IsZero() {
		return ctrl.Result{}
	}
	// An instant that has passed meanwhile is a reason to come at once. 0, or less, would mean never.
	return ctrl.Result{RequeueAfter: max(r.Clock.Until(next), time.Millisecond)}
}
