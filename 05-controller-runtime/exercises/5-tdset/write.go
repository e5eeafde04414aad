// The writes. Each one states its assumption, so that the API server refuses it with 409 if that is
// no longer true.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = client.FieldOwner("tdset-controller")

// createDeployment assumes that there is no Deployment with that name. An apply can't say so, and
// would change an existing one. But without force, it can't change somebody else's fields: the
// server answers 409.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	return c.applyDeployment(ctx, desired)
}

// updateDeployment takes over the fields that desired sets, no matter who changed them, so observed
// must be a Deployment that we control. Its UID prevents the apply from changing another Deployment
// with that name, and from creating one.
func (c *controller) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) (*appsv1.Deployment, error) {
	return c.applyDeployment(ctx, desired.WithUID(observed.UID), client.ForceOwnership)
}

// applyDeployment applies desired and returns the API server's answer. It goes through an
// unstructured object, which Apply replaces with the answer. Into desired, Apply would only merge
// the answer, so a label that a webhook has removed would still be there.
func (c *controller) applyDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration, options ...client.ApplyOption) (*appsv1.Deployment, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: content}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), append(options, fieldOwner)...); err != nil {
		return nil, err
	}
	applied := &appsv1.Deployment{}
	return applied, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, applied)
}

// updateTDSetStatus sends the fields of the status that have changed. A list goes as a whole, so the
// patch includes tdset's resourceVersion: the server refuses one that was made from an outdated
// TDSet. Otherwise it could remove another controller's condition.
func (c *controller) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	updated := tdset.DeepCopy()
	updated.Status = status
	patch := client.MergeFromWithOptions(tdset, client.MergeFromWithOptimisticLock{})
	return c.Status().Patch(ctx, updated, patch, fieldOwner)
}
