// The reconciler, and what it does with a TDSet's Deployment. The exercise is about the events and
// times at which it is called, and about what its writes send.

package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1ac "example.com/operators/05-controller-runtime/exercises/5-tdset/pkg/generated/applyconfiguration/schedule/v1"
)

// reconciler keeps the Deployment that each TDSet asks for.
type reconciler struct {
	client.Client               // reads from the manager's cache, writes to the API server
	apiReader     client.Reader // reads from the API server
	clock         clock.PassiveClock
}

// syncDeployment returns the Deployment of tdset's name, or nil if it has just created or updated
// it.
func (r *reconciler) syncDeployment(ctx context.Context, tdset *TDSet, replicas int32) (*appsv1.Deployment, error) {
	log := ctrl.LoggerFrom(ctx) // it logs the TDSet's name
	desired := desiredDeployment(tdset, replicas)
	key, observed := client.ObjectKeyFromObject(tdset), &appsv1.Deployment{}
	err := r.Get(ctx, key, observed)
	if apierrors.IsNotFound(err) {
		// The cache may not have it yet, and an apply would change it. So ask the server, too.
		err = r.apiReader.Get(ctx, key, observed)
	}
	switch {
	case apierrors.IsNotFound(err):
		log.Info("Creating", "deployment", key, "replicas", replicas)
		if err := r.createDeployment(ctx, desired); err != nil {
			return nil, fmt.Errorf("create Deployment: %w", err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment: %w", err)
	case !controls(tdset, observed):
		// It belongs to someone else, or it is being deleted. This isn't an error and needs no
		// retry, because the next change to it causes an event.
		log.V(2).Info("Leaving alone", "deployment", klog.KObj(observed))
		return observed, nil
	case upToDate(observed, desired):
		return observed, nil
	}
	log.Info("Updating", "deployment", klog.KObj(observed), "replicas", replicas, "before", replicasOf(observed))
	if err := r.updateDeployment(ctx, observed, desired); err != nil {
		return nil, fmt.Errorf("update Deployment: %w", err)
	}
	return nil, nil
}

// statusToApply returns status as an apply configuration. Our own condition is the only one in it:
// the others stay without being sent, and would become ours if we sent them.
func statusToApply(status TDSetStatus) *schedulev1ac.TDSetStatusApplyConfiguration {
	ready := meta.FindStatusCondition(status.Conditions, conditionReady)
	return schedulev1ac.TDSetStatus().
		WithObservedGeneration(status.ObservedGeneration).
		WithConditions(metav1ac.Condition().
			WithType(ready.Type).
			WithStatus(ready.Status).
			WithObservedGeneration(ready.ObservedGeneration).
			WithLastTransitionTime(ready.LastTransitionTime).
			WithReason(ready.Reason).
			WithMessage(ready.Message))
}
