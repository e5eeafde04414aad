// The writes. Each one states its assumption, so that the API server refuses it with 409 if that is
// no longer true.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createDeployment assumes that there is no Deployment with that name.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	return c.kube.AppsV1().Deployments(desired.Namespace).Create(ctx, desired, metav1.CreateOptions{})
}

// updateDeployment sends all of observed, with the values that desired sets. It assumes observed's
// resourceVersion.
func (c *controller) updateDeployment(ctx context.Context, observed, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	merged := merge(observed, desired)
	return c.kube.AppsV1().Deployments(merged.Namespace).Update(ctx, merged, metav1.UpdateOptions{})
}

// updateTDSetStatus assumes tdset's resourceVersion, so the API server refuses a status that was
// computed from an old spec.
func (c *controller) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	updated := *tdset
	updated.Status = status
	return c.tdsets.Put().Namespace(tdset.Namespace).Resource("tdsets").Name(tdset.Name).SubResource("status").Body(&updated).Do(ctx).Error()
}
