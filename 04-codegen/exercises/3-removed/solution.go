//go:build solution

// Package removed is about fields that are no longer wanted.
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

// Controller gives Apps their Deployments.
type Controller struct {
	Deployments appslisters.DeploymentLister  // an informer's cache
	Client      typedappsv1.DeploymentsGetter // a clientset's AppsV1() is one
}

// Sync brings app's Deployment to what app asks for. (Whose it is, the caller has looked at.)
//
// The Deployment has what app asks for, no matter who changed it. What app no longer asks for is removed, even after a
// restart, unless somebody else owns it too. Other people's fields stay. If there is nothing to change, nothing is sent.
func (c *Controller) Sync(ctx context.Context, app *App) error {
	desired := desiredDeployment(app)
	observed, err := c.Deployments.Deployments(app.Namespace).Get(app.Name)
	if apierrors.IsNotFound(err) {
		return c.apply(ctx, desired)
	}
	if err != nil {
		return fmt.Errorf("get Deployment %s: %w", app.Name, err)
	}

	// What we own of it is what we last applied, but for the fields that somebody has changed or removed since.
	// managedFields say so, and they outlive the program. A field too many must be removed, and one too few added again.
	// (Comparing with the desired state, field by field, finds the second and never the first.)
	owned, err := appsv1ac.ExtractDeployment(observed, fieldManager)
	if err != nil {
		return fmt.Errorf("extract what we own of Deployment %s: %w", app.Name, err)
	}
	if equality.Semantic.DeepEqual(owned, desired) {
		return nil
	}
	return c.apply(ctx, desired)
}

// apply sends the desired state. The server removes what we owned and no longer send, unless somebody else owns it
// too.
func (c *Controller) apply(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	if _, err := c.Client.Deployments(*desired.Namespace).Apply(ctx, desired, options); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", *desired.Name, err)
	}
	return nil
}
