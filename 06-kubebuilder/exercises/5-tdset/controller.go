// The controller, as the solution of chapter 05's exercise has it: which events bring a TDSet, when it comes again, and how writes leave.

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// fieldManager is the name under which the controller owns fields.
const fieldManager = client.FieldOwner("tdset-controller")

// setUp adds the controller to mgr, and says which events bring which TDSets.
func setUp(mgr ctrl.Manager, clock clock.PassiveClock) error {
	r := &reconciler{Client: mgr.GetClient(), live: mgr.GetAPIReader(), clock: clock}
	return ctrl.NewControllerManagedBy(mgr).
		For(&TDSet{}).
		// A Deployment concerns the TDSet of its name, whosever it is, so its own key is the one to bring. Owns would bring
		// nothing else, and leave those out that aren't ours, or no longer.
		Watches(&appsv1.Deployment{}, &handler.EnqueueRequestForObject{}).
		WithOptions(controllerOptions()).
		Complete(r)
}

// Reconcile brings the cluster to what the TDSet of that key asks for at this time. Its result says when the answer may
// change if nothing else happens before, so that it is called again then. The queue keeps no more than one time for a key,
// and forgets it when the key is processed earlier, so each call that succeeds has to return it again.
func (r *reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	now := r.clock.Now()

	// 1. The TDSet. If it is gone or going, so is its Deployment, by the garbage collector.
	tdset := &TDSet{}
	if err := r.Get(ctx, key.NamespacedName, tdset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !tdset.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// 2. What it wants at this time, and until when.
	replicas, window, next := scheduleAt(tdset.Spec, now)

	// 3. The Deployment. A write to it comes back as an event, and brings us here again for the status. But the time to come
	// is no part of that event, and isn't left to it.
	deployment, err := r.syncDeployment(ctx, tdset, replicas)
	if err != nil {
		return ctrl.Result{}, err
	}
	if deployment == nil {
		return r.comeAgain(tdset, next), nil
	}

	// 4. The status, written only if it says something new.
	status := desiredStatus(tdset, deployment, window, metav1.NewTime(now))
	if equality.Semantic.DeepEqual(tdset.Status, status) {
		return r.comeAgain(tdset, next), nil
	}
	ctrl.LoggerFrom(ctx).V(2).Info("Updating the status")
	if err := r.updateTDSetStatus(ctx, tdset, status); err != nil {
		return ctrl.Result{}, fmt.Errorf("update the status: %w", err)
	}
	return r.comeAgain(tdset, next), nil
}

// comeAgain returns the result that brings tdset at next, the zero time being never; and if intervalMint is set, no later than
// so many minutes from now.
func (r *reconciler) comeAgain(tdset *TDSet, next time.Time) ctrl.Result {
	now := r.clock.Now() // later than when Reconcile began: its requests take time
	if interval := time.Duration(tdset.Spec.IntervalMint) * time.Minute; interval > 0 {
		if next.IsZero() || next.After(now.Add(interval)) {
			next = now.Add(interval)
		}
	}
	if next.IsZero() {
		return ctrl.Result{}
	}
	// A boundary that has passed meanwhile is a reason to come at once. 0, or less, would mean never.
	return ctrl.Result{RequeueAfter: max(next.Sub(now), time.Millisecond)}
}

// createDeployment assumes that there is none of that name. An apply can't say so: where there is one, it changes it. Without
// force it changes no field that is somebody else's, and the server answers 409 instead.
func (r *reconciler) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	return r.Apply(ctx, desired, fieldManager)
}

// updateDeployment makes the fields of desired ours, no matter who changed them, so observed must be a Deployment that
// we control. It assumes that it is still the same one, by its UID: another of that name isn't changed, and none is
// made.
func (r *reconciler) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) error {
	return r.Apply(ctx, desired.WithUID(observed.UID), fieldManager, client.ForceOwnership)
}

// updateTDSetStatus assumes tdset's resourceVersion: a status made from a spec that has changed since is refused. It makes
// the status ours, but for the conditions that others have set.
func (r *reconciler) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	desired := statusToApply(tdset, status)
	return r.Status().Apply(ctx, desired, fieldManager, client.ForceOwnership)
}
