// The Deployment and the Pods of a TDSet. You don't need to change anything here.
//
// This is simpler than the chapter's code: it reads from the API server instead of a cache, and
// there is no schedule.

package finalizer

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// tdsetLabel is on every object that belongs to a TDSet. Its value is the TDSet's name.
const tdsetLabel = "schedule.rs/tdset"

// replicas is the size of every TDSet's Deployment, until the TDSet is being deleted.
const replicas = 2

// syncDeployment creates tdset's Deployment, or scales it to replicas.
func (r *Reconciler) syncDeployment(ctx context.Context, tdset *schedulev2.TDSet) error {
	err := r.scale(ctx, tdset, replicas)
	if !apierrors.IsNotFound(err) {
		return err
	}
	return r.Create(ctx, desiredDeployment(tdset))
}

// scaleToZero asks tdset's Pods to stop, which takes them some time. If there is no Deployment, it
// returns a NotFound error.
func (r *Reconciler) scaleToZero(ctx context.Context, tdset *schedulev2.TDSet) error {
	return r.scale(ctx, tdset, 0)
}

func (r *Reconciler) scale(ctx context.Context, tdset *schedulev2.TDSet, replicas int32) error {
	deployment := &appsv1.Deployment{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(tdset), deployment); err != nil {
		return err
	}
	if !metav1.IsControlledBy(deployment, tdset) || ptr.Deref(deployment.Spec.Replicas, 1) == replicas {
		return nil
	}
	deployment.Spec.Replicas = &replicas
	return r.Update(ctx, deployment)
}

// pods returns the Pods of tdset that still exist. Those that are being deleted (DeletionTimestamp)
// have been told to stop, but they are still running: a server finishes its open requests.
func (r *Reconciler) pods(ctx context.Context, tdset *schedulev2.TDSet) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := r.List(ctx, &pods, client.InNamespace(tdset.Namespace), client.MatchingLabels(labelsOf(tdset)))
	return pods.Items, err
}

func labelsOf(tdset *schedulev2.TDSet) map[string]string {
	return map[string]string{tdsetLabel: tdset.Name}
}

func desiredDeployment(tdset *schedulev2.TDSet) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       tdset.Namespace,
			Name:            tdset.Name,
			Labels:          labelsOf(tdset),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(tdset, schedulev2.GroupVersion.WithKind("TDSet"))},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(replicas)),
			Selector: &metav1.LabelSelector{MatchLabels: labelsOf(tdset)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labelsOf(tdset)},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: tdset.Spec.Container.Image}}},
			},
		},
	}
}
