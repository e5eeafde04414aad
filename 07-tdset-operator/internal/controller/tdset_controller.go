// The controller: the work on one TDSet. Reconcile never asks whether an event (events.go) or a
// timer has enqueued the key. It compares the actual state with the desired state. desired.go and
// the package schedule compute the desired state. objects.go, drain.go and status.go compare and
// act, and write.go has the requests.

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

const (
	shortestBackoff = 5 * time.Millisecond // after the first failure; each further failure doubles it
	longestBackoff  = time.Minute
	conflictPause   = time.Second // the event of the other write usually arrives sooner

	// RequeueAfter sets a timer, and timers don't follow the wall clock. If somebody sets the clock
	// or the machine sleeps, a timer fires too early or too late. So none runs longer than this.
	longestPause = 10 * time.Minute
)

// TDSetReconciler makes the Deployment and the Service that each TDSet asks for, and scales the
// Deployment by the time of day.
type TDSetReconciler struct {
	client.Client               // reads from the manager's cache, writes to the API server
	APIReader     client.Reader // reads from the API server
	Recorder      events.EventRecorder
	Clock         clock.PassiveClock // clock.RealClock, or a test's
	DrainTimeout  time.Duration      // how long a TDSet that is being deleted waits for its Pods
}

// What the controller may do, and no more: config/rbac/role.yaml is generated from these markers.
// An apply is a patch. If it creates an object, it needs create as well. The finalizer is a patch
// of the TDSet. Only those who may update the owner's finalizers may set an owner reference with
// blockOwnerDeletion (admission plugin OwnerReferencesPermissionEnforcement).
//
// +kubebuilder:rbac:groups=schedule.rs,resources=tdsets,verbs=list;watch;patch
// +kubebuilder:rbac:groups=schedule.rs,resources=tdsets/status,verbs=patch
// +kubebuilder:rbac:groups=schedule.rs,resources=tdsets/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile is called with each key from the queue. A conflict isn't a failure: the cache was behind,
// and the event that is on its way enqueues the key again. If none arrives, conflictPause does.
func (r *TDSetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	result, err := r.reconcile(ctx, req)
	switch {
	case isConflict(err):
		ctrl.LoggerFrom(ctx).V(2).Info("Conflict, retrying", "err", err.Error())
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	case isTerminating(err):
		return ctrl.Result{}, nil // the TDSet will be deleted with its namespace
	}
	return result, err
}

// reconcile makes the cluster match the TDSet of that name. Its result says when the schedule will
// ask for something else.
func (r *TDSetReconciler) reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// 1. Read the TDSet.
	tdset := &schedulev2.TDSet{}
	if err := r.Get(ctx, req.NamespacedName, tdset); err != nil {
		if apierrors.IsNotFound(err) {
			forget(req.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// 2. Is it being deleted? Ask this before adding the finalizer, because the API server accepts
	// no new finalizers by then.
	if !tdset.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, tdset)
	}
	if !controllerutil.ContainsFinalizer(tdset, finalizer) {
		if err := r.patchFinalizers(ctx, tdset, controllerutil.AddFinalizer); err != nil {
			return ctrl.Result{}, fmt.Errorf("add the finalizer: %w", err)
		}
	}

	// 3. What does it want at this time? If the schedule is invalid, change nothing: when somebody
	// corrects it, that event enqueues the TDSet.
	now := r.Clock.Now()
	state, invalid := stateAt(tdset, now)
	if invalid != nil {
		return ctrl.Result{}, r.reportInvalid(ctx, tdset, invalid, now)
	}

	// 4. Create, update or delete the Deployment and the Service.
	deployment, wroteDeployment, errDeployment := r.syncDeployment(ctx, tdset, state.Replicas)
	service, wroteService, errService := r.syncService(ctx, tdset)
	refused, failed := splitErrors(errDeployment, errService)
	seen := observation{state: &state, deployment: deployment, service: service, refused: refused, failed: failed, errDeployment: errDeployment}
	measure(tdset, seen)

	// 5. Update the status, even after a failure. Otherwise users would still see the last success.
	// After a write above, it is too early: the event of that write enqueues the TDSet again.
	if !wroteDeployment && !wroteService && !isConflict(failed) && !isTerminating(failed) {
		failed = errors.Join(failed, r.syncStatus(ctx, tdset, seen, now))
	}

	// 6. Requeue at the next transition. Return this every time, because the queue only keeps the
	// earliest time for each key. But returning an error discards RequeueAfter, and the backoff may
	// then delay a transition by up to a minute. That is fine after a failure, which may be over
	// sooner. A refusal lasts until somebody raises a quota, for example. So less than a minute
	// before a transition, log it instead.
	result := r.requeueAt(tdset, state.Next)
	if failed != nil || refused != nil && result.RequeueAfter > longestBackoff {
		return ctrl.Result{}, cmp.Or(failed, refused)
	}
	if refused != nil {
		ctrl.LoggerFrom(ctx).Info("Refused by the API server", "err", refused.Error())
	}
	return result, nil
}

// stateAt returns what tdset's schedule asks for at an instant. The error says why it is invalid.
func stateAt(tdset *schedulev2.TDSet, instant time.Time) (schedule.State, error) {
	if err := schedule.Validate(&tdset.Spec, field.NewPath("spec")).ToAggregate(); err != nil {
		return schedule.State{}, err
	}
	return schedule.At(&tdset.Spec, instant)
}

// reportInvalid updates the status of a TDSet whose schedule is invalid.
func (r *TDSetReconciler) reportInvalid(ctx context.Context, tdset *schedulev2.TDSet, invalid error, now time.Time) error {
	deployment := &appsv1.Deployment{}
	err := r.read(ctx, tdset, deployment)
	if err != nil {
		deployment = nil
	}
	if err = client.IgnoreNotFound(err); err != nil {
		err = fmt.Errorf("get the Deployment: %w", err)
	}
	forget(client.ObjectKeyFromObject(tdset)) // syncStatus sets what is still known
	return errors.Join(err, r.syncStatus(ctx, tdset, observation{deployment: deployment, invalid: invalid, failed: err, errDeployment: err}, now))
}

// requeueAt returns the result that enqueues tdset at next. If intervalMinutes or longestPause ends
// before that, it enqueues tdset then. If next is zero, there is no transition.
func (r *TDSetReconciler) requeueAt(tdset *schedulev2.TDSet, next time.Time) ctrl.Result {
	pause := longestPause
	if interval := time.Duration(tdset.Spec.IntervalMinutes) * time.Minute; interval > 0 {
		pause = min(pause, interval)
	}
	if latest := r.Clock.Now().Round(0).Add(pause); next.IsZero() || next.After(latest) {
		next = latest
	}
	// If next has passed meanwhile, requeue at once. RequeueAfter: 0 would mean never.
	return ctrl.Result{RequeueAfter: max(-r.Clock.Since(next), time.Millisecond)}
}
