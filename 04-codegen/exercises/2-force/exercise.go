//go:build !solution

// Package force is about whose a Deployment is, and what an apply takes.
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

// fieldManager is the name under which the controller owns fields.
const fieldManager = "foo-controller"

// Controller gives Foos their Deployments.
type Controller struct {
	Deployments appslisters.DeploymentLister  // an informer's cache
	Client      typedappsv1.DeploymentsGetter // a clientset's AppsV1() is one
}

// SyncDeployment brings the Deployment of foo's deploymentName to what foo asks for. If it returns an error, it is to be
// called again.
//
// The cache may be behind. If a Deployment in the cache was deleted meanwhile, it isn't created again on that assumption:
// that is an error. The server is asked only for what the cache doesn't have.
//
// Nobody's Deployment is stolen: one that foo doesn't control, or that is being deleted, is left as it is, and that is no
// error. If somebody takes the name at the last moment, their Deployment stays theirs, and that is one.
//
// On a Deployment that foo controls, the fields of desiredDeployment are reverted, no matter who changed them. If it is up
// to date, nothing is sent.
func (c *Controller) SyncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	desired := desiredDeployment(foo)
	// YOUR WORK: this asks the cache alone, and forces whatever it finds.
	observed, err := c.Deployments.Deployments(foo.Namespace).Get(foo.Spec.DeploymentName)
	switch {
	case apierrors.IsNotFound(err):
		// There is none yet: the apply makes it.
	case err != nil:
		return fmt.Errorf("get Deployment %s: %w", foo.Spec.DeploymentName, err)
	case !controls(foo, observed):
		return nil
	case !upToDate(observed, desired):
		klog.V(2).InfoS("Putting back what was changed", "deployment", klog.KObj(observed))
	}
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	if _, err := c.Client.Deployments(foo.Namespace).Apply(ctx, desired, options); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", foo.Spec.DeploymentName, err)
	}
	return nil
}
