//go:build solution

// The handlers and the work on one Foo, as in the chapter. Two choices are worth comparing with
// yours. A handler never decides what to do, it only finds keys. And syncHandler writes the status
// even after an error, because users can't read its log.

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// handleFoo enqueues a Foo that was added or changed. A deleted Foo needs no work: its Deployment
// has an owner reference to it, so the garbage collector deletes the Deployment.
func (c *controller) handleFoo(ctx context.Context, foo metav1.Object) {
	klog.FromContext(ctx).V(4).Info("Event received", "kind", "Foo", "object", klog.KObj(foo), "resourceVersion", foo.GetResourceVersion())
	c.enqueue(ctx, types.NamespacedName{Namespace: foo.GetNamespace(), Name: foo.GetName()})
}

// handleObject enqueues the Foos that a change to a Deployment may concern.
func (c *controller) handleObject(ctx context.Context, deployment metav1.Object) {
	klog.FromContext(ctx).V(4).Info("Event received", "kind", "Deployment", "object", klog.KObj(deployment), "resourceVersion", deployment.GetResourceVersion())
	keys, err := c.findFoosForDeployment(ctx, deployment)
	if err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Lost an event: nothing will retry it", "deployment", klog.KObj(deployment))
	}
	for _, key := range keys {
		c.enqueue(ctx, key)
	}
}

// findFoosForDeployment returns the keys of the Foos that a change to deployment may concern: the
// Foo that controls it, and the Foos that ask for its name, which may be free now.
func (c *controller) findFoosForDeployment(ctx context.Context, deployment metav1.Object) ([]types.NamespacedName, error) {
	foos, err := c.listFoos(ctx, deployment.GetNamespace(), deployment.GetName())
	if err != nil {
		return nil, err
	}
	var keys []types.NamespacedName
	for _, foo := range foos {
		keys = append(keys, types.NamespacedName{Namespace: foo.Namespace, Name: foo.Name})
	}
	if owner := metav1.GetControllerOf(deployment); owner != nil && isFoo(owner) {
		key := types.NamespacedName{Namespace: deployment.GetNamespace(), Name: owner.Name}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// isFoo reports whether an owner reference names a Foo of our API group, in any version. Another
// group may have a kind of the same name.
func isFoo(owner *metav1.OwnerReference) bool {
	groupVersion, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && groupVersion.Group == samplecontrollerv1alpha1.GroupVersion.Group && owner.Kind == "Foo"
}

// syncHandler makes the cluster match the Foo with that key, and reports the result in its status.
// sample-controller gave it this name.
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

	// 2. Create or update the Deployment that it names.
	deployment, err := c.syncDeployment(ctx, foo)

	// 3. Delete Deployments that it named before, but only once the new one exists.
	if err == nil && controls(foo, deployment) {
		err = c.deleteFormer(ctx, foo)
	}

	// 4. Update the status, even after a failure. Otherwise users would still see the last success.
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return err // somebody else has just written it, so look again first
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // the Foo will be deleted with its namespace
	}
	status := desiredStatus(foo, deployment, err, metav1.Now())
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return err
	}
	klog.FromContext(ctx).V(2).Info("Updating the status", "availableReplicas", status.AvailableReplicas)
	if failed := c.updateFooStatus(ctx, foo, status); failed != nil {
		return errors.Join(err, fmt.Errorf("update the status: %w", failed))
	}
	c.recordEvent(foo, status)
	return err
}

// syncDeployment creates or updates the Deployment that foo names, and returns it as it is after
// that. If the Deployment can't be made to match foo, the error says why.
func (c *controller) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (*appsv1.Deployment, error) {
	logger := klog.FromContext(ctx)
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	observed, err := c.getDeployment(ctx, foo.Namespace, name)
	var written *appsv1.Deployment
	switch {
	case apierrors.IsNotFound(err):
		logger.Info("Creating", "deployment", klog.KRef(foo.Namespace, name))
		if written, err = c.createDeployment(ctx, desired); err != nil {
			return nil, fmt.Errorf("create Deployment %s: %w", name, err)
		}
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", name, err)
	case !controls(foo, observed):
		// It belongs to someone else, or it is being deleted. This isn't an error and needs no
		// retry, because the next change to it causes an event.
		logger.V(2).Info("Leaving alone", "deployment", klog.KObj(observed))
		return observed, nil
	case upToDate(observed, desired):
		return observed, nil
	default:
		logger.Info("Updating", "deployment", klog.KObj(observed))
		if written, err = c.updateDeployment(ctx, observed, desired); err != nil {
			return observed, fmt.Errorf("update Deployment %s: %w", name, err)
		}
	}
	if !upToDate(written, desired) {
		return written, fmt.Errorf("write Deployment %s: %w", name, errOverruled)
	}
	return written, nil
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
