// How the controller reconciles a TDSet: like a Foo, but with one more input, the time.

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// syncHandler makes the cluster match what the TDSet with that key asks for at this time, and
// reports the result in its status. It returns the time at which it has to be called again, even if
// there is no event until then. The zero time means never, because the schedule never changes
// anything or the TDSet is gone. With an error, it returns no time.
func (c *controller) syncHandler(ctx context.Context, key types.NamespacedName) (next time.Time, err error) {
	now := c.clock.Now()

	// 1. Read the TDSet. If it is gone or being deleted, the garbage collector deletes its
	// Deployment, so don't create one now.
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

	// 2. Find out what it asks for at this time, and until when.
	replicas, window, next := scheduleAt(tdset.Spec, now)
	if interval := time.Duration(tdset.Spec.IntervalMint) * time.Minute; interval > 0 {
		if next.IsZero() || next.After(now.Add(interval)) {
			next = now.Add(interval)
		}
	}

	// 3. Create or update the Deployment.
	deployment, err := c.syncDeployment(ctx, tdset, replicas)

	// 4. Update the status, even after a failure. Otherwise users would still see the last success.
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return time.Time{}, err // somebody else has just written it, so look again first
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return time.Time{}, nil // the TDSet will be deleted with its namespace
	}
	status := desiredStatus(tdset, deployment, window, err, metav1.NewTime(now))
	if err := errors.Join(err, c.syncStatus(ctx, tdset, status)); err != nil {
		return time.Time{}, err
	}
	return next, nil
}

// syncStatus updates tdset's status, but only if it has changed.
func (c *controller) syncStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	if equality.Semantic.DeepEqual(tdset.Status, status) {
		return nil
	}
	klog.V(2).InfoS("Updating the status", "tdset", klog.KObj(tdset))
	if err := c.updateTDSetStatus(ctx, tdset, status); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	c.recordEvent(tdset, status)
	return nil
}

// logFailure logs an error of syncHandler. A conflict isn't worth an error message, because it only
// means that someone else wrote first. Their write causes an event.
func logFailure(ctx context.Context, key types.NamespacedName, err error) {
	switch {
	case ctx.Err() != nil: // the program is shutting down
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		klog.V(2).InfoS("Conflict, retrying", "tdset", key, "err", err)
	default:
		klog.ErrorS(err, "Retrying", "tdset", key)
	}
}
