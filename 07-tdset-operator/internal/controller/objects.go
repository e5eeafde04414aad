// The objects that a TDSet asks for: its Deployment and its Service. Each is compared with what the
// TDSet wants, and written if they differ. What the TDSet doesn't control is never touched.

package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// syncDeployment returns the Deployment of tdset's name, or nil if there is none yet. If it has
// written, the event of that write enqueues tdset again.
func (r *TDSetReconciler) syncDeployment(ctx context.Context, tdset *schedulev2.TDSet, replicas int32) (observed *appsv1.Deployment, wrote bool, err error) {
	desired, observed := desiredDeployment(tdset, replicas), &appsv1.Deployment{}
	if wrote, err := r.readOrCreate(ctx, tdset, "Deployment", observed, desired); wrote || err != nil {
		return nil, wrote, err
	}
	if !controls(tdset, observed) || deploymentUpToDate(observed, desired) {
		return observed, false, nil
	}
	ctrl.LoggerFrom(ctx).Info("Updating the Deployment", "replicas", replicas, "before", replicasOf(observed))
	err = r.update(ctx, desired.WithUID(observed.UID))
	if err = orOverruled(err, observed.ResourceVersion, desired.ResourceVersion); err != nil {
		return observed, false, fmt.Errorf("update the Deployment: %w", err)
	}
	return observed, true, nil
}

// syncService does the same for the Service. If tdset asks for none, it deletes the one it made.
func (r *TDSetReconciler) syncService(ctx context.Context, tdset *schedulev2.TDSet) (observed *corev1.Service, wrote bool, err error) {
	if tdset.Spec.Service == nil {
		wrote, err := r.deleteFormerService(ctx, tdset)
		return nil, wrote, err
	}
	desired, observed := desiredService(tdset), &corev1.Service{}
	if wrote, err := r.readOrCreate(ctx, tdset, "Service", observed, desired); wrote || err != nil {
		return nil, wrote, err
	}
	before := observed.ResourceVersion
	switch {
	case !controls(tdset, observed):
		return observed, false, nil
	case !portsUpToDate(observed, desired):
		// If anything else differs too, the event of this write leads here again.
		err = orOverruled(r.replacePorts(ctx, observed, desired), before, &observed.ResourceVersion)
	case !serviceUpToDate(observed, desired):
		err = r.update(ctx, desired.WithUID(observed.UID))
		err = orOverruled(err, before, desired.ResourceVersion)
	default:
		return observed, false, nil
	}
	if err != nil {
		return observed, false, fmt.Errorf("update the Service: %w", err)
	}
	ctrl.LoggerFrom(ctx).Info("Updated the Service", "port", tdset.Spec.Service.Port)
	return observed, true, nil
}

// readOrCreate reads tdset's object. If there is none, it creates desired and returns true.
func (r *TDSetReconciler) readOrCreate(ctx context.Context, tdset *schedulev2.TDSet, kind string, observed client.Object, desired runtime.ApplyConfiguration) (wrote bool, err error) {
	err = r.read(ctx, tdset, observed)
	if err == nil {
		return false, nil
	}
	if !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("get the %s: %w", kind, err)
	}
	ctrl.LoggerFrom(ctx).Info("Creating the " + kind)
	if err := r.create(ctx, desired); err != nil {
		return false, fmt.Errorf("create the %s: %w", kind, err)
	}
	return true, nil
}

// deleteFormerService deletes the Service that tdset no longer asks for, if there is one.
func (r *TDSetReconciler) deleteFormerService(ctx context.Context, tdset *schedulev2.TDSet) (wrote bool, err error) {
	observed := &corev1.Service{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(tdset), observed); err != nil || !controls(tdset, observed) {
		return false, client.IgnoreNotFound(err)
	}
	ctrl.LoggerFrom(ctx).Info("Deleting the Service")
	if err := r.deleteService(ctx, observed); err != nil {
		return false, fmt.Errorf("delete the Service: %w", err)
	}
	return true, nil
}
