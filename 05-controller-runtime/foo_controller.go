// The controller. controller-runtime provides the informers, their caches, the queue and the
// workers. You only say which events concern which Foos (SetupWithManager) and do the work on one
// Foo (Reconcile).

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// FooReconciler creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type FooReconciler struct {
	client.Client               // reads from the manager's cache, writes to the API server
	APIReader     client.Reader // reads from the API server
	Recorder      events.EventRecorder
}

// SetupWithManager adds the controller to mgr.
func (r *FooReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	indexer := mgr.GetFieldIndexer()
	if err := errors.Join(
		indexer.IndexField(ctx, &samplecontrollerv1alpha1.Foo{}, byDeploymentName, indexByDeploymentName),
		indexer.IndexField(ctx, &appsv1.Deployment{}, byOwner, indexByOwner),
	); err != nil {
		return fmt.Errorf("indexes (is the CRD applied?): %w", err)
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&samplecontrollerv1alpha1.Foo{}, builder.WithPredicates(ignoreRepeatedRefusals)).
		Owns(&appsv1.Deployment{}). // enqueues the Foo that controls it
		Watches(&appsv1.Deployment{}, handler.EnqueueRequestsFromMapFunc(r.findFoosForDeployment)).
		WithOptions(controller.Options{
			UsePriorityQueue: new(false), // first come, first served, even at the start
			// A backoff for each Foo. Without priorities, the default also limits all Foos together.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](5*time.Millisecond, time.Minute),
		}).
		Complete(r)
}

// findFoosForDeployment returns the Foos that ask for the Deployment's name. One of them may be
// waiting until that name is free.
func (r *FooReconciler) findFoosForDeployment(ctx context.Context, deployment client.Object) (requests []ctrl.Request) {
	var foos samplecontrollerv1alpha1.FooList
	err := r.List(ctx, &foos, client.InNamespace(deployment.GetNamespace()), client.MatchingFields{byDeploymentName: deployment.GetName()})
	if err != nil {
		log.FromContext(ctx).Error(err, "Lost an event: the index can't be read", "deployment", client.ObjectKeyFromObject(deployment))
	}
	for _, foo := range foos.Items {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&foo)})
	}
	return requests
}

// Reconcile makes the cluster match the Foo that req names and reports the result in the Foo's
// status. It never learns which event caused the call. It compares the actual state with the
// desired state, so it does the right thing even if an event was missed or came twice.
func (r *FooReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// 1. Read the Foo. If it is gone or being deleted, the garbage collector deletes its
	// Deployment, so don't create one now.
	var foo samplecontrollerv1alpha1.Foo
	if err := r.Get(ctx, req.NamespacedName, &foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// 2. Create or update the Deployment that it names. The event of that write leads here again.
	deployment, err := r.syncDeployment(ctx, &foo)
	if deployment == nil && err == nil {
		return ctrl.Result{}, nil
	}

	// 3. Delete Deployments that it named before, but only once the new one exists.
	if err == nil && controls(&foo, deployment) {
		err = r.deleteFormer(ctx, &foo)
	}

	// 4. Update the status, even after a failure. Otherwise users would still see the last success.
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		err = nil // the Foo will be deleted with its namespace
	case !apierrors.IsConflict(err): // after a conflict, read again first
		if failed := r.syncStatus(ctx, &foo, deployment, err); err == nil || !apierrors.IsConflict(failed) {
			err = errors.Join(err, failed)
		}
	}

	// 5. A conflict isn't a failure: an object has changed since it was read. So don't return an error,
	// which controller-runtime would log. Usually, the event of that change requeues the Foo sooner.
	if apierrors.IsConflict(err) {
		log.FromContext(ctx).V(2).Info("Conflict, retrying", "error", err.Error())
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}
