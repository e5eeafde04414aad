// The drain: what is done about a TDSet that is being deleted. Its finalizer keeps it until none of
// its Pods is running, or DrainTimeout is over. Then the garbage collector deletes the Deployment
// and the Service.

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// finalizer keeps a TDSet that is being deleted until the controller removes it.
const finalizer = "schedule.rs/drain"

// finalize drains a TDSet that is being deleted, and then removes the finalizer. It ignores Clock,
// because deletionTimestamp is the API server's real time.
func (r *TDSetReconciler) finalize(ctx context.Context, tdset *schedulev2.TDSet) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(tdset, finalizer) {
		return ctrl.Result{}, nil // somebody else's finalizer keeps it
	}
	if slices.Contains(tdset.Finalizers, metav1.FinalizerOrphanDependents) {
		// kubectl delete --cascade=orphan: the Deployment is to stay as it is.
		return ctrl.Result{}, client.IgnoreNotFound(r.patchFinalizers(ctx, tdset, controllerutil.RemoveFinalizer))
	}
	left := time.Until(tdset.DeletionTimestamp.Add(r.DrainTimeout))
	ours, drained, err := r.drain(ctx, tdset)
	if err != nil {
		// Don't return it, because with the queue's backoff the timeout could pass unnoticed.
		if !isConflict(err) {
			ctrl.LoggerFrom(ctx).Error(err, "Draining failed", "left", left)
		}
		left = min(left, conflictPause)
	}
	if ours && !drained && left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil // the deletion of the last Pod comes sooner
	}
	if err := r.patchFinalizers(ctx, tdset, controllerutil.RemoveFinalizer); err != nil {
		// If it isn't found, the cache was behind: the TDSet is gone already.
		return ctrl.Result{}, client.IgnoreNotFound(fmt.Errorf("remove the finalizer: %w", err))
	}
	switch {
	case !ours: // nobody has looked at its Pods
	case drained:
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeNormal, "Drained", "Drain", "No Pod of this TDSet is running")
	default:
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeWarning, "DrainTimeout", "Drain",
			"Not drained after %v: Pods may still be running", r.DrainTimeout)
	}
	return ctrl.Result{}, nil
}

// drain scales tdset's Deployment to zero, and reports whether all its Pods are gone, including
// those that are still terminating. If the Deployment isn't ours, there is nothing to drain.
func (r *TDSetReconciler) drain(ctx context.Context, tdset *schedulev2.TDSet) (ours, drained bool, err error) {
	deployment := &appsv1.Deployment{}
	err = r.read(ctx, tdset, deployment)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return true, false, fmt.Errorf("get the Deployment: %w", err)
	case err == nil && !metav1.IsControlledBy(deployment, tdset):
		return false, false, nil
	case err == nil && controls(tdset, deployment):
		if replicasOf(deployment) > 0 {
			ctrl.LoggerFrom(ctx).Info("Draining", "replicas", replicasOf(deployment))
			// Change nothing else, because a policy may refuse the rest of the spec. And assume the
			// resourceVersion, because the Deployment may have been orphaned a moment ago.
			scaled := deployment.DeepCopy()
			scaled.Spec.Replicas = new(int32(0))
			patch := client.MergeFromWithOptions(deployment, client.MergeFromWithOptimisticLock{})
			return true, false, r.Patch(ctx, scaled, patch, fieldOwner)
		}
		if !rolledOut(deployment) {
			return true, false, nil
		}
	}
	running, err := r.hasRunningPods(ctx, tdset)
	return true, !running && err == nil, err
}
