// How writes leave. What the controller wants of an object is applied (server-side apply): the fields that it sets, and nothing else.
// An apply assumes nothing that it doesn't say: each function says what it needs.

package controller

import (
	"context"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "example.com/operators/07-tdset-operator/api/v1"
	tdsetv1ac "example.com/operators/07-tdset-operator/api/v1/applyconfiguration/api/v1"
)

// fieldManager is the name under which the controller owns fields.
const fieldManager = client.FieldOwner("tdset-controller")

// createDeployment assumes that there is none of that name. An apply can't say so: where there is one, it changes it. Without
// force it changes no value that somebody else has set: the server answers 409 instead.
func (r *TDSetReconciler) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	return r.Apply(ctx, desired, fieldManager)
}

// updateDeployment makes the fields that desired sets ours, whoever has changed them: so observed must be a Deployment that we
// control. Its UID is the assumption: another of that name isn't changed, and none is made.
func (r *TDSetReconciler) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) error {
	return r.Apply(ctx, desired.WithUID(observed.UID), fieldManager, client.ForceOwnership)
}

// createService is to Services what createDeployment is to Deployments.
func (r *TDSetReconciler) createService(ctx context.Context, desired *corev1ac.ServiceApplyConfiguration) error {
	return r.Apply(ctx, desired, fieldManager)
}

// updateService is to Services what updateDeployment is to Deployments.
func (r *TDSetReconciler) updateService(ctx context.Context, observed *corev1.Service, desired *corev1ac.ServiceApplyConfiguration) error {
	return r.Apply(ctx, desired.WithUID(observed.UID), fieldManager, client.ForceOwnership)
}

// replacePorts makes desired's ports all that observed has. An apply couldn't: a port that somebody has changed is theirs, ours would
// stand beside it, and two ports of one name are refused. It assumes observed's resourceVersion.
func (r *TDSetReconciler) replacePorts(ctx context.Context, observed *corev1.Service, desired *corev1ac.ServiceApplyConfiguration) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": observed.UID, "resourceVersion": observed.ResourceVersion},
		"spec":     map[string]any{"ports": desired.Spec.Ports},
	})
	if err != nil {
		return err
	}
	return r.Patch(ctx, observed, client.RawPatch(types.MergePatchType, patch), fieldManager)
}

// deleteService assumes the UID: it deletes this Service, not another that has taken its name. One that is gone already is what we
// wanted.
func (r *TDSetReconciler) deleteService(ctx context.Context, service *corev1.Service) error {
	return client.IgnoreNotFound(r.Delete(ctx, service, client.Preconditions{UID: &service.UID}))
}

// addFinalizer and removeFinalizer change tdset's list of finalizers. A merge patch has the whole list in it, those of others too: so it
// says the resourceVersion that it was made from (the optimistic lock). Afterwards tdset is what the API server has.
func (r *TDSetReconciler) addFinalizer(ctx context.Context, tdset *v1.TDSet) error {
	from := client.MergeFromWithOptions(tdset.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.AddFinalizer(tdset, finalizer)
	return r.Patch(ctx, tdset, from, fieldManager)
}

func (r *TDSetReconciler) removeFinalizer(ctx context.Context, tdset *v1.TDSet) error {
	from := client.MergeFromWithOptions(tdset.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(tdset, finalizer)
	return r.Patch(ctx, tdset, from, fieldManager)
}

// updateStatus applies that status at the status subresource, which ignores all but the status. Of the conditions it sends our own alone:
// those of others are kept, and would be ours if we sent them. The resourceVersion is tdset's: a status made from a spec that has
// changed since is refused.
func (r *TDSetReconciler) updateStatus(ctx context.Context, tdset *v1.TDSet, status v1.TDSetStatus) error {
	applied := tdsetv1ac.TDSetStatus().WithObservedGeneration(status.ObservedGeneration)
	applied.DesiredReplicas, applied.NextTransitionTime = status.DesiredReplicas, status.NextTransitionTime // nil: taken away
	if status.ActiveWindow != "" {
		applied.WithActiveWindow(status.ActiveWindow)
	}
	for _, c := range status.Conditions {
		switch c.Type {
		case conditionAvailable, conditionProgressing, conditionDegraded:
			applied.WithConditions(metav1ac.Condition().
				WithType(c.Type).
				WithStatus(c.Status).
				WithObservedGeneration(c.ObservedGeneration).
				WithLastTransitionTime(c.LastTransitionTime).
				WithReason(c.Reason).
				WithMessage(c.Message))
		}
	}
	desired := tdsetv1ac.TDSet(tdset.Name, tdset.Namespace).WithUID(tdset.UID).WithResourceVersion(tdset.ResourceVersion).WithStatus(applied)
	return r.Status().Apply(ctx, desired, fieldManager, client.ForceOwnership)
}
