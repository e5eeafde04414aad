//go:build solution

// Package finalizer drains an object's Pods before the object is gone.
package finalizer

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// finalizer keeps a TDSet that is being deleted until the controller removes it.
const finalizer = "schedule.rs/drain"

// Reconciler creates a Deployment for each TDSet, and drains it when the TDSet is deleted.
type Reconciler struct {
	client.Client
	DrainTimeout time.Duration
}

// Reconcile keeps the TDSet's Deployment at its size. When the TDSet is being deleted, it stops the
// Deployment's Pods, and then removes the finalizer.
//
//   - It creates no Deployment before the TDSet has the finalizer. Otherwise, a TDSet that is
//     deleted at that moment would be gone without a drain.
//   - If the TDSet is being deleted, it adds no finalizer, because the API server refuses that. It
//     doesn't create or scale up the Deployment either, not even for a moment. If the TDSet doesn't
//     have our finalizer (any more), it does nothing: somebody else keeps the TDSet.
//   - It removes the finalizer when no Pod is left. Pods that are being deleted still count. But it
//     keeps a TDSet no longer than DrainTimeout after its deletion, even if Pods never stop, the
//     server answers with errors, or this program restarts.
//   - There may be nothing to drain, because somebody has deleted the Deployment. That is no error.
//   - It doesn't remove other people's finalizers.
//   - It returns instead of waiting. When a Pod is gone, that event leads to the next call. The
//     timeout causes no event, so it needs a RequeueAfter.
func (r *Reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	tdset := &schedulev2.TDSet{}
	if err := r.Get(ctx, key.NamespacedName, tdset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !tdset.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, tdset)
	}
	if controllerutil.AddFinalizer(tdset, finalizer) {
		// The update sends the resourceVersion. If somebody has added another finalizer in the
		// meantime, it is refused, and retried with both.
		if err := r.Update(ctx, tdset); err != nil {
			return ctrl.Result{}, fmt.Errorf("add the finalizer: %w", err)
		}
	}
	if err := r.syncDeployment(ctx, tdset); err != nil {
		return ctrl.Result{}, fmt.Errorf("sync the Deployment: %w", err)
	}
	return ctrl.Result{}, nil
}

// finalize drains tdset, which is being deleted, and then removes the finalizer.
func (r *Reconciler) finalize(ctx context.Context, tdset *schedulev2.TDSet) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(tdset, finalizer) {
		return ctrl.Result{}, nil
	}
	drained, err := r.drain(ctx, tdset)
	if left := time.Until(tdset.DeletionTimestamp.Add(r.DrainTimeout)); !drained && left > 0 {
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("drain: %w", err)
		}
		return ctrl.Result{RequeueAfter: left}, nil
	}
	controllerutil.RemoveFinalizer(tdset, finalizer)
	if err := r.Update(ctx, tdset); err != nil {
		return ctrl.Result{}, fmt.Errorf("remove the finalizer: %w", err)
	}
	return ctrl.Result{}, nil
}

// drain stops the Pods of tdset, and reports whether none is left.
func (r *Reconciler) drain(ctx context.Context, tdset *schedulev2.TDSet) (bool, error) {
	if err := r.scaleToZero(ctx, tdset); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("scale to zero: %w", err)
	}
	pods, err := r.pods(ctx, tdset)
	if err != nil {
		return false, fmt.Errorf("list the Pods: %w", err)
	}
	return len(pods) == 0, nil
}
