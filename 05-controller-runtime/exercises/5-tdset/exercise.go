//go:build !solution

// Command 5-tdset is a controller for TDSets, built on controller-runtime. A TDSet asks for a
// Deployment that is scaled by the time of day.
package main

import (
	"context"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Reconcile makes the cluster match what the TDSet with that key asks for at this time. Its result
// has the time at which it has to be called again, even if there is no event until then.
//
//   - It does nothing for a TDSet that is gone or being deleted, because the garbage collector
//     deletes its Deployment.
//   - It computes everything from one instant, and it reads c.clock first of all.
//   - It writes only what has changed, and records an Event only after the status is written.
//   - It writes the status even if the Deployment couldn't be written, so that users see why. But
//     after a conflict, or if the Deployment already exists, it only returns the error, because
//     somebody else has just written it.
//   - It returns every error, so that the queue retries the key. A TDSet that is gone isn't an
//     error, and neither is a create that is refused because the namespace is being deleted. (That
//     error's cause is corev1.NamespaceTerminatingCause.)
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// YOUR WORK: keep these promises.
	return c.requeueAt(&TDSet{}, time.Time{}), nil
}

// setUp adds the controller to mgr, and declares which events enqueue which TDSets.
func setUp(mgr ctrl.Manager, clock clock.PassiveClock) error {
	c := &controller{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("tdset-controller"), clock: clock}
	return ctrl.NewControllerManagedBy(mgr).
		For(&TDSet{}).
		// YOUR WORK: which other events concern a TDSet? It doesn't matter whose Deployment it is.
		WithOptions(controllerOptions()).
		Complete(c)
}

// requeueAt returns the result with which Reconcile is called again at next, or never if next is
// the zero time. If intervalMint is set, Reconcile is called again after that many minutes at the
// latest.
func (c *controller) requeueAt(tdset *TDSet, next time.Time) ctrl.Result {
	// YOUR WORK: this means never.
	return ctrl.Result{}
}
