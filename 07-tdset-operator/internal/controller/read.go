// Reads. They come from the manager's cache, which costs no request but may be behind. If the cache
// doesn't have an object, the API server is asked.

package controller

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// read fills in the object that has tdset's name. If the cache doesn't have one, it asks the API
// server: the object may be new, and creating it again would change it.
func (r *TDSetReconciler) read(ctx context.Context, tdset *schedulev2.TDSet, object client.Object) error {
	err := r.Get(ctx, client.ObjectKeyFromObject(tdset), object)
	if apierrors.IsNotFound(err) {
		err = r.APIReader.Get(ctx, client.ObjectKeyFromObject(tdset), object)
	}
	return err
}

// hasRunningPods reports whether any Pod of tdset hasn't finished. Finished Pods don't count,
// because an evicted Pod stays until its ReplicaSet is deleted. (cmd/main.go keeps them out of the
// cache.) When the cache has no Pod, the API server has to confirm that, because the cache may be
// behind.
func (r *TDSetReconciler) hasRunningPods(ctx context.Context, tdset *schedulev2.TDSet) (bool, error) {
	ofTDSet := []client.ListOption{client.InNamespace(tdset.Namespace), client.MatchingLabels{TDSetLabel: tdset.Name}}
	cached := &metav1.PartialObjectMetadataList{}
	cached.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	if err := r.List(ctx, cached, ofTDSet...); err != nil || len(cached.Items) > 0 {
		return true, err
	}
	pods := &corev1.PodList{}
	if err := r.APIReader.List(ctx, pods, ofTDSet...); err != nil {
		return true, err
	}
	return slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
		return pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded
	}), nil
}
