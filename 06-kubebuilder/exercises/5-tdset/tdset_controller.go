// The controller, as in the solution of chapter 05's exercise: which events enqueue a TDSet, what
// Reconcile does, and when it is called again.

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// Reconcile makes the cluster match what the TDSet with that key asks for at this time, and reports
// the result in its status. Its own result has the time at which it has to be called again, even if
// there is no event until then. The queue keeps only one such time for a key, and forgets it when
// the key is processed earlier. So every call that succeeds has to return it again.
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	now := c.clock.Now()

	// 1. Read the TDSet. If it is gone or being deleted, the garbage collector deletes its
	// Deployment, so don't create one now.
	tdset := &TDSet{}
	if err := c.Get(ctx, req.NamespacedName, tdset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !tdset.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// 2. Find out what it asks for at this time, and until when.
	replicas, window, next := scheduleAt(tdset.Spec, now)

	// 3. Create or update the Deployment.
	deployment, err := c.syncDeployment(ctx, tdset, replicas)

	// 4. Update the status, even after a failure. Otherwise users would still see the last success.
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return ctrl.Result{}, err // somebody else has just written it, so look again first
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return ctrl.Result{}, nil // the TDSet will be deleted with its namespace
	}
	status := desiredStatus(tdset, deployment, window, err, metav1.NewTime(now))
	if err := errors.Join(err, c.syncStatus(ctx, tdset, status)); err != nil {
		return ctrl.Result{}, err
	}
	return c.requeueAt(tdset, next), nil
}

// syncStatus updates tdset's status, but only if it has changed.
func (c *controller) syncStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	if equality.Semantic.DeepEqual(tdset.Status, status) {
		return nil
	}
	ctrl.LoggerFrom(ctx).V(2).Info("Updating the status")
	if err := c.updateTDSetStatus(ctx, tdset, status); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	c.recordEvent(tdset, status)
	return nil
}

// setUp adds the controller to mgr, and declares which events enqueue which TDSets.
func setUp(mgr ctrl.Manager, clock clock.PassiveClock) error {
	c := &controller{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("tdset-controller"), clock: clock}
	return ctrl.NewControllerManagedBy(mgr).
		For(&TDSet{}).
		// A Deployment concerns the TDSet with its name, no matter whose it is, so enqueue the
		// Deployment's own key. Owns would enqueue the same key, but not for a Deployment that
		// isn't ours, or no longer is.
		Watches(&appsv1.Deployment{}, &handler.EnqueueRequestForObject{}).
		WithOptions(controllerOptions()).
		Complete(c)
}

// requeueAt returns the result with which Reconcile is called again at next, or never if next is
// the zero time. If intervalMint is set, Reconcile is called again after that many minutes at the
// latest.
func (c *controller) requeueAt(tdset *TDSet, next time.Time) ctrl.Result {
	now := c.clock.Now() // later than at the start of Reconcile, because its requests take time
	if interval := time.Duration(tdset.Spec.IntervalMint) * time.Minute; interval > 0 {
		if next.IsZero() || next.After(now.Add(interval)) {
			next = now.Add(interval)
		}
	}
	if next.IsZero() {
		return ctrl.Result{}
	}
	// If the boundary has passed in the meantime, ask for a call at once. A RequeueAfter of 0 or
	// less would mean never.
	return ctrl.Result{RequeueAfter: max(next.Sub(now), time.Millisecond)}
}
