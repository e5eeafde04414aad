// What is done about a TDSet that is being deleted: a drain. Its finalizer keeps it until no Pod is left that is still at work, or time
// is up. Then the garbage collector takes the Deployment and the Service.

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

	v1 "example.com/operators/07-tdset-operator/api/v1"
)

// finalizer keeps a TDSet that is being deleted until the controller takes it away.
const finalizer = "schedule.rs/drain"

// finalize drains tdset, which is being deleted, and lets it go. It goes by the real time, whatever Clock says: the API server has
// written down when the deletion began.
func (r *TDSetReconciler) finalize(ctx context.Context, tdset *v1.TDSet) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(tdset, finalizer) {
		return ctrl.Result{}, nil // somebody else's keeps it
	}
	if slices.Contains(tdset.Finalizers, metav1.FinalizerOrphanDependents) {
		return ctrl.Result{}, client.IgnoreNotFound(r.removeFinalizer(ctx, tdset)) // kubectl delete --cascade=orphan: the Deployment is to stay
	}
	left := time.Until(tdset.DeletionTimestamp.Add(r.DrainTimeout))
	ours, drained, err := r.drain(ctx, tdset)
	if err != nil {
		// Not returned: the queue's pauses grow, and time may be up before the next one ends. A conflict is no failure here either.
		if !isConflict(err) {
			ctrl.LoggerFrom(ctx).Error(err, "Draining failed", "left", left)
		}
		left = min(left, afterConflict)
	}
	if ours && !drained && left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil // the event of the last Pod's end comes before
	}
	if err := r.removeFinalizer(ctx, tdset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(fmt.Errorf("let go: %w", err)) // it is gone already: the cache is behind
	}
	switch {
	case !ours: // there is nothing to say: nobody has looked at its Pods
	case drained:
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeNormal, "Drained", "Drain", "No Pod of this TDSet is at work")
	default:
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeWarning, "DrainTimeout", "Drain", "Not drained after %v: Pods may still be at work", r.DrainTimeout)
	}
	return ctrl.Result{}, nil
}

// drain scales tdset's Deployment to zero, and tells whether no Pod of it is left, those included that take their time to end. If the
// Deployment of its name isn't ours, there is nothing to drain.
func (r *TDSetReconciler) drain(ctx context.Context, tdset *v1.TDSet) (ours, drained bool, err error) {
	deployment, err := r.getDeployment(ctx, tdset)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return true, false, fmt.Errorf("get the Deployment: %w", err)
	case err == nil && !metav1.IsControlledBy(deployment, tdset):
		return false, false, nil
	case err == nil && controls(tdset, deployment):
		if replicasOf(deployment) > 0 {
			ctrl.LoggerFrom(ctx).Info("Draining", "replicas", replicasOf(deployment))
			// Beside the UID it assumes the resourceVersion: it may have been released a moment ago (--cascade=orphan).
			desired := desiredDeployment(tdset, 0).WithResourceVersion(deployment.ResourceVersion)
			return true, false, r.updateDeployment(ctx, deployment, desired)
		}
		if !rolledOut(deployment) {
			return true, false, nil
		}
	}
	left, err := r.podsAtWork(ctx, tdset)
	return true, !left && err == nil, err
}

// podsAtWork tells whether there is a Pod of tdset that hasn't finished. One that has may stay for long: nobody deletes an evicted Pod before
// its ReplicaSet goes. (The cache has none of those, see cmd/manager.go.) The cache says when it is worth asking; the API server has the
// last word, since the cache may not know a Pod yet.
func (r *TDSetReconciler) podsAtWork(ctx context.Context, tdset *v1.TDSet) (bool, error) {
	ofTDSet := []client.ListOption{client.InNamespace(tdset.Namespace), client.MatchingLabels{TDSetLabel: tdset.Name}}
	cached := &metav1.PartialObjectMetadataList{}
	cached.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	if err := r.List(ctx, cached, ofTDSet...); err != nil || len(cached.Items) > 0 {
		return true, err
	}
	live := &corev1.PodList{}
	if err := r.Live.List(ctx, live, ofTDSet...); err != nil {
		return true, err
	}
	return slices.ContainsFunc(live.Items, func(pod corev1.Pod) bool {
		return pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
	}), nil
}

// getDeployment returns the Deployment of tdset's name. What the cache doesn't have may be on its way there: then the server is asked.
func (r *TDSetReconciler) getDeployment(ctx context.Context, tdset *v1.TDSet) (*appsv1.Deployment, error) {
	key, deployment := client.ObjectKeyFromObject(tdset), &appsv1.Deployment{}
	err := r.Get(ctx, key, deployment)
	if apierrors.IsNotFound(err) {
		err = r.Live.Get(ctx, key, deployment)
	}
	return deployment, err
}
