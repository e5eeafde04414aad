//go:build solution

package main

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = client.FieldOwner("foo-controller")

// controller creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type controller struct {
	client.Client // reads from the manager's cache, writes to the API server
}

// SetupWithManager adds the controller to mgr.
func (c *controller) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&samplecontrollerv1alpha1.Foo{}).
		Owns(&appsv1.Deployment{}). // enqueues the Foo that controls it
		Complete(c)
}

// Reconcile makes the cluster match the Foo of that name.
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// 1. Read the Foo. If it is being deleted, the garbage collector deletes its Deployment.
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := c.Get(ctx, req.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// 2. Create or update its Deployment.
	if err := c.syncDeployment(ctx, foo); err != nil {
		return ctrl.Result{}, fmt.Errorf("sync Deployment %s: %w", foo.Spec.DeploymentName, err)
	}

	// 3. Report the rollout to the Foo's user.
	if err := c.reportRollout(ctx, foo); err != nil {
		return ctrl.Result{}, fmt.Errorf("rollout of Deployment %s: %w", foo.Spec.DeploymentName, err)
	}
	return ctrl.Result{}, nil
}

// syncDeployment creates foo's Deployment, or reverts the changes that others have made to it. It
// never touches a Deployment that foo doesn't control.
func (c *controller) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	desired, observed := desiredDeployment(foo), &appsv1.Deployment{}
	err := c.Get(ctx, deploymentKey(foo), observed)
	switch {
	case apierrors.IsNotFound(err):
		klog.FromContext(ctx).Info("Creating", "deployment", klog.KRef(foo.Namespace, *desired.Name))
		return c.Apply(ctx, desired, fieldOwner)
	case err != nil:
		return err
	case !metav1.IsControlledBy(observed, foo):
		return errors.New("it exists and is not controlled by this Foo")
	case ptr.Deref(observed.Spec.Replicas, 1) == *desired.Spec.Replicas:
		return nil
	}
	klog.FromContext(ctx).Info("Updating", "deployment", klog.KObj(observed))
	return c.Apply(ctx, desired.WithUID(observed.UID), fieldOwner, client.ForceOwnership)
}

// reportRollout keeps foo's status up to date with its Deployment.
func (c *controller) reportRollout(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	deployment := &appsv1.Deployment{}
	if err := c.Get(ctx, deploymentKey(foo), deployment); err != nil {
		return client.IgnoreNotFound(err) // the cache may not have it yet
	}
	return c.updateStatus(ctx, foo, desiredStatus(foo, deployment))
}

// updateStatus writes foo's status, but only if it has changed.
func (c *controller) updateStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, status samplecontrollerv1alpha1.FooStatus) error {
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	before := foo.DeepCopy()
	foo.Status = status
	return client.IgnoreNotFound(c.Status().Patch(ctx, foo, client.MergeFrom(before), fieldOwner))
}

// deploymentKey returns the namespace and the name of foo's Deployment.
func deploymentKey(foo *samplecontrollerv1alpha1.Foo) types.NamespacedName {
	return types.NamespacedName{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}
}
