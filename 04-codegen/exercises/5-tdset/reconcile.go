// What is done about a TDSet. As for a Foo, with one input more: the time.

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// syncHandler brings the cluster to what the TDSet of that key asks for at this time. It returns when the answer may be
// another one, if nothing else happens before: that is when it wants to be called again. The zero time means never: no
// time of day changes anything, or there is no such TDSet any more. An error comes with no time.
func (c *controller) syncHandler(ctx context.Context, key types.NamespacedName) (next time.Time, err error) {
	now := c.clock.Now()

	// 1. The TDSet. If it is gone or going, so is its Deployment, by the garbage collector.
	tdset, err := c.getTDSet(ctx, key)
	if apierrors.IsNotFound(err) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("get TDSet: %w", err)
	}
	if !tdset.DeletionTimestamp.IsZero() {
		return time.Time{}, nil
	}

	// 2. What it wants at this time, and until when.
	replicas, window, next := scheduleAt(tdset.Spec, now)
	if interval := time.Duration(tdset.Spec.IntervalMint) * time.Minute; interval > 0 {
		if next.IsZero() || next.After(now.Add(interval)) {
			next = now.Add(interval)
		}
	}

	// 3. The Deployment. A write to it comes back as an event, and brings us here again for the status.
	deployment, err := c.syncDeployment(ctx, tdset, replicas)
	if err != nil {
		return time.Time{}, err
	}
	if deployment == nil {
		return next, nil
	}

	// 4. The status, written only if it says something new.
	status := desiredStatus(tdset, deployment, window, metav1.NewTime(now))
	if equality.Semantic.DeepEqual(tdset.Status, status) {
		return next, nil
	}
	klog.V(2).InfoS("Updating the status", "tdset", key)
	if err := c.updateTDSetStatus(ctx, tdset, status); err != nil {
		return time.Time{}, fmt.Errorf("update the status: %w", err)
	}
	return next, nil
}

// logFailure logs an error of syncHandler's. A conflict is no news: someone else wrote first, and that causes an event.
func logFailure(ctx context.Context, key types.NamespacedName, err error) {
	switch {
	case ctx.Err() != nil: // told to stop
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		klog.V(2).InfoS("Someone else wrote first", "tdset", key, "err", err)
	default:
		klog.ErrorS(err, "Failed", "tdset", key)
	}
}

// syncDeployment returns the Deployment of tdset's name, or nil if it has just made or changed it.
func (c *controller) syncDeployment(ctx context.Context, tdset *TDSet, replicas int32) (*appsv1.Deployment, error) {
	desired := desiredDeployment(tdset, replicas)
	observed, err := c.getDeployment(ctx, tdset.Namespace, tdset.Name)
	if apierrors.IsNotFound(err) {
		observed, err = c.getDeploymentUncached(ctx, tdset.Namespace, tdset.Name)
	}
	switch {
	case apierrors.IsNotFound(err):
		klog.InfoS("Creating", "deployment", klog.KRef(tdset.Namespace, tdset.Name), "replicas", replicas)
		if err := c.createDeployment(ctx, desired); err != nil {
			return nil, fmt.Errorf("create Deployment: %w", err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment: %w", err)
	case !controls(tdset, observed):
		// Someone else's, or on its way out. The event that changes this brings us back: no error, nothing to retry.
		klog.V(2).InfoS("Leaving alone", "deployment", klog.KObj(observed))
		return observed, nil
	case upToDate(observed, desired):
		return observed, nil
	}
	klog.InfoS("Updating", "deployment", klog.KObj(observed), "replicas", replicas, "before", replicasOf(observed))
	if err := c.updateDeployment(ctx, observed, desired); err != nil {
		return nil, fmt.Errorf("update Deployment: %w", err)
	}
	return nil, nil
}
