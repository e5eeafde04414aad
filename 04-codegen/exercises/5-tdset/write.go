// The writes. Each one states its assumption, so that the API server refuses it with 409 if that is
// no longer true.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "tdset-controller"

// createDeployment assumes that there is no Deployment with that name. An apply can't say so, and
// would change an existing one. But without force, it can't change somebody else's fields: the
// server answers 409.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	options := metav1.ApplyOptions{FieldManager: fieldOwner}
	return c.kube.AppsV1().Deployments(*desired.Namespace).Apply(ctx, desired, options)
}

// updateDeployment takes over the fields that desired sets, no matter who changed them, so observed
// must be a Deployment that we control. Its UID prevents the apply from changing another Deployment
// with that name, and from creating one.
func (c *controller) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	return c.kube.AppsV1().Deployments(observed.Namespace).Apply(ctx, desired.WithUID(observed.UID), options)
}
