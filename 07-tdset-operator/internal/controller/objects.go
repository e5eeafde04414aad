// What is done about the objects that a TDSet asks for: its Deployment, and its Service.

package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operators/07-tdset-operator/api/v1"
)

// syncDeployment returns the Deployment of tdset's name, and whether it has just made or changed it: then an event brings us back.
func (r *TDSetReconciler) syncDeployment(ctx context.Context, tdset *v1.TDSet, replicas int32) (observed *appsv1.Deployment, wrote bool, err error) {
	log := ctrl.LoggerFrom(ctx) // it names the TDSet
	desired := desiredDeployment(tdset, replicas)
	observed, err = r.getDeployment(ctx, tdset)
	switch {
	case apierrors.IsNotFound(err) && r.terminating.has(tdset):
		return nil, true, nil // the TDSet will be deleted with its namespace
	case apierrors.IsNotFound(err):
		log.Info("Creating the Deployment", "replicas", replicas)
		if err := r.createDeployment(ctx, desired); err != nil && !r.terminating.refused(tdset, err) {
			return nil, false, fmt.Errorf("create the Deployment: %w", err)
		}
		return nil, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("get the Deployment: %w", err)
	case !controls(tdset, observed):
		// Someone else's, or on its way out. The event that changes this brings us back: no error, nothing to retry.
		log.V(2).Info("Leaving the Deployment alone")
		return observed, false, nil
	case deploymentUpToDate(observed, desired):
		return observed, false, nil
	}
	log.Info("Updating the Deployment", "replicas", replicas, "before", replicasOf(observed))
	if err := r.updateDeployment(ctx, observed, desired); err != nil {
		return observed, false, fmt.Errorf("update the Deployment: %w", err)
	}
	if ptr.Equal(desired.ResourceVersion, &observed.ResourceVersion) { // an apply answers with the object
		return observed, false, fmt.Errorf("update the Deployment: %w", errOverruled)
	}
	return observed, true, nil
}

// syncService does the same for the Service. It returns nil if tdset asks for none: then one that it had is deleted.
func (r *TDSetReconciler) syncService(ctx context.Context, tdset *v1.TDSet) (observed *corev1.Service, wrote bool, err error) {
	log := ctrl.LoggerFrom(ctx)
	key, observed := client.ObjectKeyFromObject(tdset), &corev1.Service{}
	err = r.Get(ctx, key, observed)
	if tdset.Spec.Service == nil {
		if err != nil || !controls(tdset, observed) {
			return nil, false, client.IgnoreNotFound(err)
		}
		log.Info("Deleting the Service")
		if err := r.deleteService(ctx, observed); err != nil {
			return nil, false, fmt.Errorf("delete the Service: %w", err)
		}
		return nil, true, nil
	}

	desired := desiredService(tdset)
	if apierrors.IsNotFound(err) {
		err = r.Live.Get(ctx, key, observed)
	}
	switch {
	case apierrors.IsNotFound(err) && r.terminating.has(tdset):
		return nil, true, nil
	case apierrors.IsNotFound(err):
		log.Info("Creating the Service", "port", tdset.Spec.Service.Port)
		if err := r.createService(ctx, desired); err != nil && !r.terminating.refused(tdset, err) {
			return nil, false, fmt.Errorf("create the Service: %w", err)
		}
		return nil, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("get the Service: %w", err)
	case !controls(tdset, observed):
		log.V(2).Info("Leaving the Service alone")
		return observed, false, nil
	case !portsUpToDate(observed, desired):
		log.Info("Changing the Service's port", "port", tdset.Spec.Service.Port)
		before := observed.ResourceVersion // observed is what the patch answers with, afterwards
		if err := r.replacePorts(ctx, observed, desired); err != nil {
			return observed, false, fmt.Errorf("change the Service's port: %w", err)
		}
		if observed.ResourceVersion == before {
			return observed, false, fmt.Errorf("change the Service's port: %w", errOverruled)
		}
		return observed, true, nil
	case !serviceUpToDate(observed, desired):
		log.Info("Updating the Service")
		if err := r.updateService(ctx, observed, desired); err != nil {
			return observed, false, fmt.Errorf("update the Service: %w", err)
		}
		if ptr.Equal(desired.ResourceVersion, &observed.ResourceVersion) {
			return observed, false, fmt.Errorf("update the Service: %w", errOverruled)
		}
		return observed, true, nil
	}
	return observed, false, nil
}
