//go:build solution

// Package removed is about removing fields that are no longer desired.
package removed

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
)

// Controller creates and maintains the Deployments of Apps.
type Controller struct {
	Deployments appslisters.DeploymentLister  // an informer's cache
	Client      typedappsv1.DeploymentsGetter // a clientset's AppsV1() is one
}

// Sync creates or updates app's Deployment. (The caller has already checked that it may change this
// Deployment.)
//
// Sync sets the fields that app asks for, even if someone else has changed them. It removes fields
// that app no longer asks for, even after a restart, unless someone else owns them too. It leaves
// other people's fields alone. If there is nothing to change, it sends nothing.
func (c *Controller) Sync(ctx context.Context, app *App) error {
	desired := desiredDeployment(app)
	observed, err := c.Deployments.Deployments(app.Namespace).Get(app.Name)
	if apierrors.IsNotFound(err) {
		return c.apply(ctx, desired)
	}
	if err != nil {
		return fmt.Errorf("get Deployment %s: %w", app.Name, err)
	}

	// By managedFields, we own the fields that we last applied, except those that someone else has
	// changed or removed since. A restart doesn't change that. If we own a field that we no longer
	// want, or don't own one that we do want, an apply is needed. (Comparing only the desired
	// fields would never find the former.)
	owned, err := appsv1ac.ExtractDeployment(observed, fieldOwner)
	if err != nil {
		return fmt.Errorf("extract our fields of Deployment %s: %w", app.Name, err)
	}
	if equality.Semantic.DeepEqual(owned, desired) {
		return nil
	}
	return c.apply(ctx, desired)
}

// apply sends the desired state. The server removes fields that we owned and no longer send, unless
// someone else owns them too.
func (c *Controller) apply(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	if _, err := c.Client.Deployments(*desired.Namespace).Apply(ctx, desired, options); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", *desired.Name, err)
	}
	return nil
}
