//go:build !solution

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

const (
	// fieldOwner is the controller's name in managedFields.
	fieldOwner = client.FieldOwner("tdset-controller")
	// finalizer keeps a TDSet that is being deleted until the controller removes it.
	finalizer = "schedule.rs/drain"
	// drainInterval is the time between two looks at the Pods of such a TDSet.
	drainInterval = 10 * time.Second
)

// reconciler makes a Deployment for each TDSet, and scales it by the time of day.
type reconciler struct {
	client.Client               // reads from the manager's cache, writes to the API server
	APIReader     client.Reader // reads from the API server
}

// SetupWithManager adds the controller to mgr.
func (r *reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&schedulev2.TDSet{}).
		Owns(&appsv1.Deployment{}). // enqueues the TDSet that controls it
		Complete(r)
}

// Reconcile makes the cluster match the TDSet of that name.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// 1. Read the TDSet. If it is being deleted, drain it.
	tdset := &schedulev2.TDSet{}
	if err := r.Get(ctx, req.NamespacedName, tdset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !tdset.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, tdset)
	}

	// 2. Make sure that it isn't deleted without a drain.
	if !controllerutil.ContainsFinalizer(tdset, finalizer) {
		if err := r.patchFinalizers(ctx, tdset, controllerutil.AddFinalizer); err != nil {
			return ctrl.Result{}, fmt.Errorf("add the finalizer: %w", err)
		}
	}

	// 3. Create or scale the Deployment, and come back when the schedule asks for something else.
	now := time.Now()
	state, err := schedule.At(&tdset.Spec, now)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("schedule: %w", err)
	}
	if err := r.scale(ctx, tdset, state.Replicas); err != nil {
		return ctrl.Result{}, fmt.Errorf("scale the Deployment: %w", err)
	}
	if state.Next.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: max(state.Next.Sub(now), time.Millisecond)}, nil
}

// scale creates tdset's Deployment, or changes the number of its replicas.
func (r *reconciler) scale(ctx context.Context, tdset *schedulev2.TDSet, replicas int32) error {
	deployment := &appsv1.Deployment{}
	err := r.Get(ctx, client.ObjectKeyFromObject(tdset), deployment)
	switch {
	case apierrors.IsNotFound(err):
		return r.Apply(ctx, desiredDeployment(tdset, replicas), fieldOwner)
	case err != nil:
		return err
	case !metav1.IsControlledBy(deployment, tdset):
		return errors.New("it exists and is not controlled by this TDSet")
	case replicasOf(deployment) == replicas:
		return nil
	}
	ctrl.LoggerFrom(ctx).Info("Scaling the Deployment", "replicas", replicas, "before", replicasOf(deployment))
	return r.Apply(ctx, desiredDeployment(tdset, replicas).WithUID(deployment.UID), fieldOwner, client.ForceOwnership)
}

// finalize removes the finalizer of tdset, which is being deleted, once it is drained. It gives
// Pods all the time that they need, because they may have orders to finish.
func (r *reconciler) finalize(ctx context.Context, tdset *schedulev2.TDSet) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(tdset, finalizer) {
		return ctrl.Result{}, nil // somebody else's finalizer keeps it
	}
	drained, err := r.drain(ctx, tdset)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("drain: %w", err)
	}
	if !drained {
		return ctrl.Result{RequeueAfter: drainInterval}, nil
	}
	if err := r.patchFinalizers(ctx, tdset, controllerutil.RemoveFinalizer); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(fmt.Errorf("remove the finalizer: %w", err))
	}
	return ctrl.Result{}, nil
}

// drain scales tdset's Deployment to zero, and reports whether all Pods have ended.
func (r *reconciler) drain(ctx context.Context, tdset *schedulev2.TDSet) (bool, error) {
	deployment := &appsv1.Deployment{}
	err := r.Get(ctx, client.ObjectKeyFromObject(tdset), deployment)
	switch {
	case apierrors.IsNotFound(err): // its Pods may still be terminating
	case err != nil:
		return false, fmt.Errorf("get the Deployment: %w", err)
	case !metav1.IsControlledBy(deployment, tdset):
		return true, nil // it is somebody else's, so there is nothing to drain
	case replicasOf(deployment) > 0:
		ctrl.LoggerFrom(ctx).Info("Draining", "replicas", replicasOf(deployment))
		return false, r.Apply(ctx, desiredDeployment(tdset, 0).WithUID(deployment.UID), fieldOwner, client.ForceOwnership)
	case deployment.Status.ObservedGeneration < deployment.Generation || deployment.Status.Replicas > 0:
		return false, nil
	}
	left, err := r.countPods(ctx, tdset)
	if left > 0 {
		ctrl.LoggerFrom(ctx).V(1).Info("Waiting for Pods", "left", left)
	}
	return left == 0 && err == nil, err
}

// countPods returns the number of Pods that haven't ended. It asks the API server, because the
// cache may not have the latest Pods yet.
func (r *reconciler) countPods(ctx context.Context, tdset *schedulev2.TDSet) (int, error) {
	var pods corev1.PodList
	if err := r.APIReader.List(ctx, &pods, client.InNamespace(tdset.Namespace), client.MatchingLabels{appLabel: tdset.Name}); err != nil {
		return 0, fmt.Errorf("list the Pods: %w", err)
	}
	left := 0
	for _, pod := range pods.Items {
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			left++
		}
	}
	return left, nil
}

// patchFinalizers calls change, which is controllerutil.AddFinalizer or RemoveFinalizer. The patch
// has the whole list, so it names the resourceVersion that it was made from.
func (r *reconciler) patchFinalizers(ctx context.Context, tdset *schedulev2.TDSet, change func(client.Object, string) bool) error {
	from := client.MergeFromWithOptions(tdset.DeepCopy(), client.MergeFromWithOptimisticLock{})
	change(tdset, finalizer)
	return r.Patch(ctx, tdset, from, fieldOwner)
}
