//go:build solution

// Package stale is about a cache that doesn't know yet what we have just done.
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

// Syncer gives Foos their Pods: here they get no Deployment, but spec.replicas Pods.
type Syncer struct {
	Pods   corelisters.PodLister  // an informer's cache
	Client typedcorev1.PodsGetter // a clientset's CoreV1() is one
}

// Sync creates the Pods that foo asks for and doesn't have. If it returns an error, it is to be called again.
//
// The cache may be behind, by any number of events. At no time does foo get more Pods than it asks for: not if Sync is called
// again before the events of its own writes arrive, nor if the program restarts in between. If the cache has all Pods, Sync
// sends no request.
//
// It needs no memory for that. Each Pod has a place, and its name says which: so the server, which knows what there is, refuses
// the second Pod for the same place. A memory of what was created (the ReplicaSet controller has one) would end with the
// program, and a list from the server would cost a large answer each time that one Pod is missing.
func (s *Syncer) Sync(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	for place := range *foo.Spec.Replicas {
		desired := desiredPod(foo, place)
		observed, err := s.Pods.Pods(foo.Namespace).Get(desired.Name)
		switch {
		case apierrors.IsNotFound(err):
			// Not there, or not known yet. In that case the answer is AlreadyExists, an error like any other: after a short
			// backoff we are called again, and by then the cache has it.
			if _, err := s.Client.Pods(foo.Namespace).Create(ctx, desired, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create Pod %s: %w", desired.Name, err)
			}
		case err != nil:
			return fmt.Errorf("get Pod %s: %w", desired.Name, err)
		case !metav1.IsControlledBy(observed, foo):
			// Somebody else's, or of a Foo of this name that is gone: then the garbage collector clears the place.
			return fmt.Errorf("the name of Pod %s is taken by one that this Foo doesn't control", desired.Name)
		}
	}
	return nil
}

// desiredPod returns the Pod that foo asks for in that place, from 0: example-0, example-1 and so on.
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
