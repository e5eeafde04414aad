//go:build !solution

// Package finalizer is about the last minute of an object.
package finalizer

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// finalizer keeps a TDSet that is being deleted until the controller removes it.
const finalizer = "schedule.rs/drain"

// Reconciler makes a Deployment for each TDSet, and drains it when the TDSet is deleted.
type Reconciler struct {
	client.Client
	DrainTimeout time.Duration
}

// Reconcile sees to it that the TDSet has its Deployment. When the TDSet is deleted, it has the Deployment's Pods ended, and then lets
// the TDSet go.
//
//   - Before the TDSet has the finalizer, it gets no Deployment: deleted at that moment, it would be gone and nobody would drain it.
//   - A TDSet that is being deleted gets no finalizer, since the API server takes none; and no Deployment and no replicas, not even for
//     a moment. If it hasn't our finalizer, or no longer, nothing is done about it: somebody else keeps it, for reasons of their own.
//   - It lets go when no Pod is left: those that are being deleted are still there. But nothing keeps a TDSet for longer than
//     DrainTimeout, counted from its deletion: not Pods that never end, nor a server that answers with errors, nor a restart.
//   - There may be nothing to drain, since somebody has deleted the Deployment. That is no failure.
//   - Other finalizers are other people's. They stay.
//   - It doesn't wait, it returns. The end of a Pod is an event that brings it here; DrainTimeout isn't, so it says when to come again.
func (r *Reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	tdset := &schedulev1.TDSet{}
	if err := r.Get(ctx, key.NamespacedName, tdset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	// YOUR WORK: fix the mistakes from here on, and in finalize.
	if controllerutil.AddFinalizer(tdset, finalizer) {
		if err := r.Update(ctx, tdset); err != nil {
			return ctrl.Result{}, fmt.Errorf("add the finalizer: %w", err)
		}
	}
	if err := r.syncDeployment(ctx, tdset); err != nil {
		return ctrl.Result{}, fmt.Errorf("sync the Deployment: %w", err)
	}
	if !tdset.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, tdset)
	}
	return ctrl.Result{}, nil
}

// finalize drains tdset, which is being deleted, and lets it go.
func (r *Reconciler) finalize(ctx context.Context, tdset *schedulev1.TDSet) (ctrl.Result, error) {
	if err := r.scaleToZero(ctx, tdset); err != nil {
		return ctrl.Result{}, fmt.Errorf("scale to zero: %w", err)
	}
	pods, err := r.pods(ctx, tdset)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("list the Pods: %w", err)
	}
	for _, pod := range pods {
		if pod.DeletionTimestamp.IsZero() {
			return ctrl.Result{RequeueAfter: 5 * time.Second}, nil
		}
	}
	tdset.Finalizers = nil
	if err := r.Update(ctx, tdset); err != nil {
		return ctrl.Result{}, fmt.Errorf("let go: %w", err)
	}
	return ctrl.Result{}, nil
}
