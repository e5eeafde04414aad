// The requests that write. The controller applies what it wants of an object (server-side apply):
// it sends the fields that it sets and nothing else. An apply assumes nothing about the object
// unless it says so, so each function says what it assumes.

package controller

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	schedulev2ac "example.com/operators/07-tdset-operator/api/v2/applyconfiguration/api/v2"
)

// fieldOwner is the name under which the controller owns fields.
const fieldOwner = client.FieldOwner("tdset-controller")

// create assumes that no object has this name. An apply can't say so: if there is one after all,
// it is changed. But without force the apply changes no value that somebody else has set. The API
// server answers 409 Conflict instead. Only if the object has the same values and no controller
// does the TDSet adopt it.
func (r *TDSetReconciler) create(ctx context.Context, desired runtime.ApplyConfiguration) error {
	return r.Apply(ctx, desired, fieldOwner)
}

// update takes over the fields that desired sets, no matter who set them before. So desired must
// have the UID of an object that we control. With a UID, an apply changes no other object of that
// name, and it creates none.
func (r *TDSetReconciler) update(ctx context.Context, desired runtime.ApplyConfiguration) error {
	return r.Apply(ctx, desired, fieldOwner, client.ForceOwnership)
}

// replacePorts makes desired's ports the only ones that observed has. An apply couldn't do that: a
// port that somebody has edited is theirs, so ours would be added, and a Service can't have two
// ports of one name. It assumes observed's resourceVersion, and stores the API server's answer in
// observed.
func (r *TDSetReconciler) replacePorts(ctx context.Context, observed *corev1.Service, desired *corev1ac.ServiceApplyConfiguration) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": observed.UID, "resourceVersion": observed.ResourceVersion},
		"spec":     map[string]any{"ports": desired.Spec.Ports},
	})
	if err != nil {
		return err
	}
	return r.Patch(ctx, observed, client.RawPatch(types.MergePatchType, patch), fieldOwner)
}

// deleteService assumes the UID, so that it can't delete another Service that has taken the name.
func (r *TDSetReconciler) deleteService(ctx context.Context, service *corev1.Service) error {
	return client.IgnoreNotFound(r.Delete(ctx, service, client.Preconditions{UID: &service.UID}))
}

// patchFinalizers calls change, which is controllerutil.AddFinalizer or RemoveFinalizer. A merge patch
// contains the whole list, other people's finalizers too, so it names the resourceVersion that it was
// made from (the optimistic lock). Afterwards tdset is what the API server has.
func (r *TDSetReconciler) patchFinalizers(ctx context.Context, tdset *schedulev2.TDSet, change func(client.Object, string) bool) error {
	from := client.MergeFromWithOptions(tdset.DeepCopy(), client.MergeFromWithOptimisticLock{})
	change(tdset, finalizer)
	return r.Patch(ctx, tdset, from, fieldOwner)
}

// updateStatus applies status at the status subresource, which ignores everything else. It sends
// only our own conditions. Other people's stay as they are, and would become ours if we sent them.
// It assumes tdset's resourceVersion, because a newer spec needs another status.
func (r *TDSetReconciler) updateStatus(ctx context.Context, tdset *schedulev2.TDSet, status schedulev2.TDSetStatus) error {
	applied := schedulev2ac.TDSetStatus().
		WithObservedGeneration(status.ObservedGeneration).
		WithActiveWindow(status.ActiveWindow)
	// A nil field isn't sent, so the API server removes it.
	applied.DesiredReplicas, applied.NextTransitionTime = status.DesiredReplicas, status.NextTransitionTime
	for _, c := range status.Conditions {
		switch c.Type {
		case conditionReady, conditionAvailable, conditionProgressing, conditionDegraded:
			applied.WithConditions(&metav1ac.ConditionApplyConfiguration{
				Type: &c.Type, Status: &c.Status, Reason: &c.Reason, Message: &c.Message,
				ObservedGeneration: &c.ObservedGeneration, LastTransitionTime: &c.LastTransitionTime,
			})
		}
	}
	desired := schedulev2ac.TDSet(tdset.Name, tdset.Namespace).
		WithUID(tdset.UID).
		WithResourceVersion(tdset.ResourceVersion).
		WithStatus(applied)
	return r.Status().Apply(ctx, desired, fieldOwner, client.ForceOwnership)
}
