//go:build !solution

// Package force is about when an apply may force, and which Deployments it must leave alone.
package force

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "foo-controller"

// Controller creates and maintains the Deployments of Foos.
type Controller struct {
	Deployments appslisters.DeploymentLister  // an informer's cache
	Client      typedappsv1.DeploymentsGetter // a clientset's AppsV1() is one
}

// SyncDeployment creates or updates the Deployment that foo names. If it returns an error, the
// caller retries it.
//
// The cache may be behind. If it still has a Deployment that has been deleted, SyncDeployment
// returns an error instead of creating another one. It sends a GET to the server only if the cache
// has no Deployment.
//
// It doesn't change a Deployment that foo doesn't control, or that is being deleted, and returns no
// error then. If someone else creates a Deployment of that name with other values right before the
// apply, SyncDeployment doesn't change it, and returns an error.
//
// On a Deployment that foo controls, it sets the fields of desiredDeployment, even if someone else
// has changed them. If the Deployment is up to date, it sends nothing.
func (c *Controller) SyncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	desired := desiredDeployment(foo)
	// YOUR WORK: this looks only into the cache, and always forces.
	observed, err := c.Deployments.Deployments(foo.Namespace).Get(foo.Spec.DeploymentName)
	switch {
	case apierrors.IsNotFound(err):
		// There is none yet, so the apply creates it.
	case err != nil:
		return fmt.Errorf("get Deployment %s: %w", foo.Spec.DeploymentName, err)
	case !controls(foo, observed):
		return nil
	case !upToDate(observed, desired):
		klog.V(2).InfoS("Reverting a change", "deployment", klog.KObj(observed))
	}
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	if _, err := c.Client.Deployments(foo.Namespace).Apply(ctx, desired, options); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", foo.Spec.DeploymentName, err)
	}
	return nil
}
