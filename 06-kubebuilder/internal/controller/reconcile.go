// How the controller reconciles a Foo. It never looks at the event that caused the work. It
// compares the actual state with the desired state, so it does the right thing after any event,
// even if an event was missed or came twice.

package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// syncHandler makes the cluster match the Foo with that key, and reports the result in its status.
// sample-controller gave it this name.
func (c *FooReconciler) syncHandler(ctx context.Context, key types.NamespacedName) error {
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
func (c *FooReconciler) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (*appsv1.Deployment, error) {
	logger := klog.FromContext(ctx)
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	observed, err := c.getDeployment(ctx, foo.Namespace, name)
	if apierrors.IsNotFound(err) {
		observed, err = c.getDeploymentUncached(ctx, foo.Namespace, name)
	}
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
	// Apply has replaced desired with the answer, so compare with a new one.
	if !upToDate(written, desiredDeployment(foo)) {
		return written, fmt.Errorf("write Deployment %s: %w", name, errOverruled)
	}
	return written, nil
}

// deleteFormer deletes the Deployments that foo controls and no longer names.
func (c *FooReconciler) deleteFormer(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
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
