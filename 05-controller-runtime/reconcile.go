// What is done about a Foo. It never asks which event brought it here: it compares what is with what should be, so it is
// right after any event, after none that it saw, and after the same one twice.

package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Reconcile brings the cluster to what the Foo of that key asks for. (sample-controller, and chapters 01 to 04, call it
// syncHandler.)
func (r *reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	// 1. The Foo. If it is gone or going, so is its Deployment, by the garbage collector: making one now would be wrong.
	foo := &v1alpha1.Foo{}
	if err := r.Get(ctx, key.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// 2. The Deployment that it names. A write to it comes back as an event, and brings us here again for the rest.
	deployment, err := r.syncDeployment(ctx, foo)
	if err != nil || deployment == nil {
		return ctrl.Result{}, err
	}

	// 3. Deployments that it named before: deleted only now that the new one is there.
	if controls(foo, deployment) {
		if err := r.deleteFormer(ctx, foo); err != nil {
			return ctrl.Result{}, err
		}
	}

	// 4. The status, written only if it says something new.
	status := desiredStatus(foo, deployment, metav1.Now())
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return ctrl.Result{}, nil
	}
	ctrl.LoggerFrom(ctx).V(2).Info("Updating the status", "availableReplicas", status.AvailableReplicas)
	if err := r.updateFooStatus(ctx, foo, status); err != nil {
		return ctrl.Result{}, fmt.Errorf("update the status: %w", err)
	}
	r.recordEvent(foo, status)
	return ctrl.Result{}, nil
}

// recordEvent tells foo's users what its status says now, if that is something new. The status has just been written under
// the assumption that foo is the latest there is, so nobody else has told them.
func (r *reconciler) recordEvent(foo *v1alpha1.Foo, status v1alpha1.FooStatus) {
	before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady)
	now := meta.FindStatusCondition(status.Conditions, conditionReady)
	if before != nil && before.Reason == now.Reason {
		return
	}
	switch now.Reason {
	case reasonAvailable:
		r.recorder.Eventf(foo, nil, corev1.EventTypeNormal, "Synced", "Sync", "%s", now.Message)
	case errResourceExists:
		r.recorder.Eventf(foo, nil, corev1.EventTypeWarning, errResourceExists, "Sync", "%s", now.Message)
	}
}

// syncDeployment returns the Deployment that foo names, or nil if it has just made or changed it.
func (r *reconciler) syncDeployment(ctx context.Context, foo *v1alpha1.Foo) (*appsv1.Deployment, error) {
	log := ctrl.LoggerFrom(ctx) // it names the Foo
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	key, observed := client.ObjectKey{Namespace: foo.Namespace, Name: name}, &appsv1.Deployment{}
	err := r.Get(ctx, key, observed)
	if apierrors.IsNotFound(err) {
		// What the cache doesn't have may be on its way there, and an apply changes what it finds.
		err = r.live.Get(ctx, key, observed)
	}
	switch {
	case apierrors.IsNotFound(err):
		log.Info("Creating", "deployment", klog.KRef(foo.Namespace, name))
		if err := r.createDeployment(ctx, desired); err != nil {
			return nil, fmt.Errorf("create Deployment %s: %w", name, err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", name, err)
	case !controls(foo, observed):
		// Someone else's, or on its way out. The event that changes this brings us back: no error, nothing to retry.
		log.V(2).Info("Leaving alone", "deployment", klog.KObj(observed))
		return observed, nil
	case upToDate(observed, desired):
		return observed, nil
	}
	log.Info("Updating", "deployment", klog.KObj(observed))
	if err := r.updateDeployment(ctx, observed, desired); err != nil {
		return nil, fmt.Errorf("update Deployment %s: %w", name, err)
	}
	return nil, nil
}

// deleteFormer deletes the Deployments that foo controls under another name than the one it wants now.
func (r *reconciler) deleteFormer(ctx context.Context, foo *v1alpha1.Foo) error {
	var deployments appsv1.DeploymentList
	if err := r.List(ctx, &deployments, client.InNamespace(foo.Namespace), client.MatchingFields{byOwner: string(foo.UID)}); err != nil {
		return fmt.Errorf("list the Deployments of the Foo: %w", err)
	}
	for i := range deployments.Items {
		former := &deployments.Items[i]
		if former.Name == foo.Spec.DeploymentName || !controls(foo, former) {
			continue
		}
		ctrl.LoggerFrom(ctx).Info("Deleting", "deployment", klog.KObj(former))
		if err := r.deleteDeployment(ctx, former); err != nil {
			return fmt.Errorf("delete Deployment %s: %w", former.Name, err)
		}
	}
	return nil
}
