// What is done about a Foo. It never asks which event brought it here: it compares what is with what should be, so it is
// right after any event, after none that it saw, and after the same one twice.

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

	"example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// syncHandler brings the cluster to what the Foo of that key asks for. (The name is sample-controller's; chapter 05 calls
// it Reconcile.)
func (c *controller) syncHandler(ctx context.Context, key types.NamespacedName) error {
	// 1. The Foo. If it is gone or going, so is its Deployment, by the garbage collector: making one now would be wrong.
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

	// 2. The Deployment that it names. A write to it comes back as an event, and brings us here again for the rest.
	deployment, err := c.syncDeployment(ctx, foo)
	if err != nil || deployment == nil {
		return err
	}

	// 3. Deployments that it named before: deleted only now that the new one is there.
	if controls(foo, deployment) {
		if err := c.deleteFormer(ctx, foo); err != nil {
			return err
		}
	}

	// 4. The status, written only if it says something new.
	status := desiredStatus(foo, deployment, metav1.Now())
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	klog.V(2).InfoS("Updating the status", "foo", key, "availableReplicas", status.AvailableReplicas)
	if err := c.updateFooStatus(ctx, foo, status); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}

// syncDeployment returns the Deployment that foo names, or nil if it has just made or changed it.
func (c *controller) syncDeployment(ctx context.Context, foo *v1alpha1.Foo) (*appsv1.Deployment, error) {
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	observed, err := c.getDeployment(ctx, foo.Namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		klog.InfoS("Creating", "deployment", klog.KRef(foo.Namespace, name), "foo", klog.KObj(foo))
		if err := c.createDeployment(ctx, desired); err != nil {
			return nil, fmt.Errorf("create Deployment %s: %w", name, err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", name, err)
	case !controls(foo, observed):
		// Someone else's, or on its way out. The event that changes this brings us back: no error, nothing to retry.
		klog.V(2).InfoS("Leaving alone", "deployment", klog.KObj(observed), "foo", klog.KObj(foo))
		return observed, nil
	case upToDate(observed, desired):
		return observed, nil
	}
	klog.InfoS("Updating", "deployment", klog.KObj(observed), "foo", klog.KObj(foo))
	if err := c.updateDeployment(ctx, observed, desired); err != nil {
		return nil, fmt.Errorf("update Deployment %s: %w", name, err)
	}
	return nil, nil
}

// deleteFormer deletes the Deployments that foo controls under another name than the one it wants now.
func (c *controller) deleteFormer(ctx context.Context, foo *v1alpha1.Foo) error {
	deployments, err := c.listDeployments(ctx, foo)
	if err != nil {
		return fmt.Errorf("list the Deployments of the Foo: %w", err)
	}
	for _, former := range deployments {
		if former.Name == foo.Spec.DeploymentName || !controls(foo, former) {
			continue
		}
		klog.InfoS("Deleting", "deployment", klog.KObj(former), "foo", klog.KObj(foo))
		if err := c.deleteDeployment(ctx, former); err != nil {
			return fmt.Errorf("delete Deployment %s: %w", former.Name, err)
		}
	}
	return nil
}
