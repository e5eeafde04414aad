// What the controller does with a TDSet's Deployment. This file is the same in all chapters, except
// that from chapter 04 on, a missing Deployment is looked up twice.

package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// syncDeployment creates or updates the Deployment of tdset's name, and returns it as it is after
// that. If the Deployment can't be made to match tdset, the error says why.
func (c *controller) syncDeployment(ctx context.Context, tdset *TDSet, replicas int32) (*appsv1.Deployment, error) {
	logger := klog.FromContext(ctx)
	desired := desiredDeployment(tdset, replicas)
	observed, err := c.getDeployment(ctx, tdset.Namespace, tdset.Name)
	var written *appsv1.Deployment
	switch {
	case apierrors.IsNotFound(err):
		logger.Info("Creating", "deployment", klog.KRef(tdset.Namespace, tdset.Name), "replicas", replicas)
		if written, err = c.createDeployment(ctx, desired); err != nil {
			return nil, fmt.Errorf("create Deployment: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("get Deployment: %w", err)
	case !controls(tdset, observed):
		// It belongs to someone else, or it is being deleted. This isn't an error and needs no
		// retry, because the next change to it causes an event.
		logger.V(2).Info("Leaving alone", "deployment", klog.KObj(observed))
		return observed, nil
	case upToDate(observed, desired):
		return observed, nil
	default:
		logger.Info("Updating", "deployment", klog.KObj(observed), "replicas", replicas, "before", replicasOf(observed))
		if written, err = c.updateDeployment(ctx, observed, desired); err != nil {
			return observed, fmt.Errorf("update Deployment: %w", err)
		}
	}
	if !upToDate(written, desired) {
		return written, fmt.Errorf("write Deployment: %w", errOverruled)
	}
	return written, nil
}
