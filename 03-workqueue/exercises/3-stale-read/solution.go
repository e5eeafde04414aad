//go:build solution

// Package stale creates Pods, based on a cache that may not have the latest ones yet.
package stale

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// Syncer creates a Foo's Pods. In this exercise, a Foo has no Deployment, but spec.replicas Pods.
type Syncer struct {
	Pods   corelisters.PodLister  // an informer's cache
	Client typedcorev1.PodsGetter // for example, a clientset's CoreV1()
}

// Sync creates the Pods that foo asks for and doesn't have. If it returns an error, the queue calls
// it again.
//
// The cache may be behind by any number of events. Still, foo never gets more Pods than it asks
// for, even if Sync is called again before the events of its own writes have arrived, or if the
// program restarts in between. If the cache has all Pods, Sync sends no request.
//
// To achieve that, each Pod has a place, which is part of its name. So the server, which knows all
// Pods, refuses a second Pod for the same place. There are other ways: the ReplicaSet controller
// remembers what it has created, but a restart would lose that. Or Sync could ask the server for a
// list, but it would have to do so whenever a Pod is missing.
func (s *Syncer) Sync(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	for place := range *foo.Spec.Replicas {
		desired := desiredPod(foo, place)
		observed, err := s.Pods.Pods(foo.Namespace).Get(desired.Name)
		switch {
		case apierrors.IsNotFound(err):
			// The Pod is missing, or the cache doesn't have it yet. In the latter case, the server
			// answers AlreadyExists. That is an error like any other, so the queue retries after a
			// short backoff, and by then the cache has the Pod.
			if _, err := s.Client.Pods(foo.Namespace).Create(ctx, desired, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create Pod %s: %w", desired.Name, err)
			}
		case err != nil:
			return fmt.Errorf("get Pod %s: %w", desired.Name, err)
		case !metav1.IsControlledBy(observed, foo):
			// The Pod is somebody else's, or it belongs to a deleted Foo of the same name. In that
			// case, the garbage collector will delete it.
			return fmt.Errorf("the name of Pod %s is taken by one that this Foo doesn't control", desired.Name)
		}
	}
	return nil
}

// desiredPod returns the Pod for one of foo's places. Its name is example-0, example-1 and so on.
func desiredPod(foo *samplecontrollerv1alpha1.Foo, place int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            fmt.Sprintf("%s-%d", foo.Name, place),
			Namespace:       foo.Namespace,
			Labels:          labelsOf(foo),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
	}
}

func labelsOf(foo *samplecontrollerv1alpha1.Foo) map[string]string {
	return map[string]string{"app": "nginx", "controller": foo.Name}
}
