//go:build !solution

// Package stale creates Pods, based on a cache that may not have the latest ones yet.
package stale

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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
func (s *Syncer) Sync(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	// YOUR WORK: this counts the Pods in the cache, and relies on that number.
	found, err := s.Pods.Pods(foo.Namespace).List(labels.SelectorFromSet(labelsOf(foo)))
	if err != nil {
		return fmt.Errorf("list the Foo's Pods: %w", err)
	}
	missing := int(*foo.Spec.Replicas)
	for _, pod := range found {
		if metav1.IsControlledBy(pod, foo) {
			missing--
		}
	}
	for range missing {
		if _, err := s.Client.Pods(foo.Namespace).Create(ctx, desiredPod(foo), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create a Pod: %w", err)
		}
	}
	return nil
}

// desiredPod returns one of the Pods that foo asks for. The server chooses its name, such as
// example-7xk2p.
func desiredPod(foo *samplecontrollerv1alpha1.Foo) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    foo.Name + "-",
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
