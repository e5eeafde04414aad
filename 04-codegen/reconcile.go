// How the controller reconciles a Foo. It never looks at the event that caused the work. It
// compares the actual state with the desired state, so it does the right thing after any event,
// even if an event was missed or came twice.

package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// syncHandler makes the cluster match the Foo with that key. sample-controller gave it this name.
func (c *controller) syncHandler(ctx context.Context, key types.NamespacedName) error {
	// 1. Read the Foo. If it is gone or being deleted, the garbage collector deletes its
	// Deployment, so don't create one now.
	foo, err := c.getFoo(ctx, key)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get Foo: %w", err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return nil
	}

	// 2. Create or update the Deployment that it names. A write causes an event, and that event
	// leads to the remaining steps.
	deployment, err := c.syncDeployment(ctx, foo)
	if err != nil || deployment == nil {
		return err
	}

	// 3. Delete Deployments that it named before, but only once the new one exists.
	if controls(foo, deployment) {
		if err := c.deleteFormer(ctx, foo); err != nil {
			return err
		}
	}

	// 4. Update the status, but only if it has changed.
	status := desiredStatus(foo, deployment, metav1.Now())
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	klog.FromContext(ctx).V(2).Info("Updating the status", "availableReplicas", status.AvailableReplicas)
	if err := c.updateFooStatus(ctx, foo, status); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	c.recordEvent(foo, status)
	return nil
}

// syncDeployment returns the Deployment that foo names, or nil if it has just created or updated it
// (or can't, because the namespace is being deleted).
func (c *controller) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (*appsv1.Deployment, error) {
	logger := klog.FromContext(ctx)
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	observed, err := c.getDeployment(ctx, foo.Namespace, name)
	if apierrors.IsNotFound(err) {
		observed, err = c.getDeploymentUncached(ctx, foo.Namespace, name)
	}
	switch {
	case apierrors.IsNotFound(err) && c.terminating.has(foo):
		return nil, nil // the Foo will be deleted with its namespace
	case apierrors.IsNotFound(err):
		logger.Info("Creating", "deployment", klog.KRef(foo.Namespace, name))
		if err := c.createDeployment(ctx, desired); err != nil && !c.terminating.refused(foo, err) {
			return nil, fmt.Errorf("create Deployment %s: %w", name, err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", name, err)
	case !controls(foo, observed):
		// It belongs to someone else, or it is being deleted. This isn't an error and needs no
		// retry, because the next change to it causes an event.
		logger.V(2).Info("Leaving alone", "deployment", klog.KObj(observed))
		return observed, nil
	case upToDate(observed, desired):
		return observed, nil
	}
	logger.Info("Updating", "deployment", klog.KObj(observed))
	if err := c.updateDeployment(ctx, observed, desired); err != nil {
		return nil, fmt.Errorf("update Deployment %s: %w", name, err)
	}
	return nil, nil
}

// deleteFormer deletes the Deployments that foo controls and no longer names.
func (c *controller) deleteFormer(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	deployments, err := c.listDeployments(ctx, foo)
	if err != nil {
		return fmt.Errorf("list the Deployments of the Foo: %w", err)
	}
	for _, former := range deployments {
		if former.Name == foo.Spec.DeploymentName || !controls(foo, former) {
			continue
		}
		klog.FromContext(ctx).Info("Deleting", "deployment", klog.KObj(former))
		if err := c.deleteDeployment(ctx, former); err != nil {
			return fmt.Errorf("delete Deployment %s: %w", former.Name, err)
		}
	}
	return nil
}
