//go:build !solution

// Package rbac compares the permissions of an operator with its requests.
package rbac

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// Reconciler creates a Deployment for each Foo. A ConfigMap names the image for all of them.
type Reconciler struct {
	client.Client // reads from the manager's cache, writes to the API server
	Recorder      events.EventRecorder
}

// YOUR WORK: correct these markers. The code below is right.
//
// +kubebuilder:rbac:groups=*,resources=foos,verbs=*
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos/status,verbs=get;update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;update
// +kubebuilder:rbac:groups="",resources=configmaps;secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// Reconcile creates the Deployment of the Foo with that key, or reverts changes to it. To keep it
// short, it doesn't check who owns the Deployment, as the chapter's Reconcile does.
func (r *Reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	// 1. Read the Foo, and the defaults for all Foos.
	foo, defaults := &samplecontrollerv1alpha1.Foo{}, &corev1.ConfigMap{}
	if err := r.Get(ctx, key.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if err := r.Get(ctx, defaultsKey, defaults); err != nil {
		return ctrl.Result{}, fmt.Errorf("get the defaults: %w", err)
	}

	// 2. Apply the Deployment, unless it is up to date. Then there is nothing left to do.
	desired, observed := desiredDeployment(foo, defaults.Data["image"]), &appsv1.Deployment{}
	err := r.Get(ctx, client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, observed)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("get the Deployment: %w", err)
	}
	if err == nil && upToDate(observed, desired) {
		return ctrl.Result{}, nil
	}
	if err := r.Apply(ctx, desired, fieldOwner, client.ForceOwnership); err != nil {
		return ctrl.Result{}, fmt.Errorf("apply the Deployment: %w", err)
	}

	// 3. Report it, in the status and in an Event.
	if foo.Status.ObservedGeneration != foo.Generation {
		updated := foo.DeepCopy()
		updated.Status.ObservedGeneration = foo.Generation
		if err := r.Status().Patch(ctx, updated, client.MergeFrom(foo), fieldOwner); err != nil {
			return ctrl.Result{}, fmt.Errorf("patch the status: %w", err)
		}
	}
	r.Recorder.Eventf(foo, nil, corev1.EventTypeNormal, "Synced", "Sync", "Deployment %s is up to date", foo.Spec.DeploymentName)
	return ctrl.Result{}, nil
}

// SetupWithManager adds the controller to mgr.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&samplecontrollerv1alpha1.Foo{}).
		Owns(&appsv1.Deployment{}).
		Complete(r)
}
