// How the controller learns about changes: from one informer for TDSets and another for Deployments.
// An informer lists and watches objects, keeps them in a cache, and calls handlers.

package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/listers"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// controller creates a Deployment for each TDSet and keeps it in the state that the TDSet asks for.
type controller struct {
	tdsets rest.Interface
	kube   kubernetes.Interface
	clock  clock.WithTickerAndDelayedExecution

	tdsetInformer      cache.SharedIndexInformer
	tdsetsLister       listers.ResourceIndexer[*TDSet]
	deploymentInformer cache.SharedIndexInformer
	deploymentsLister  appslisters.DeploymentLister

	queue    workqueue.TypedRateLimitingInterface[types.NamespacedName]
	recorder record.EventRecorder
}

// newRecorder returns a recorder that works until ctx ends. It doesn't wait for the last Events then,
// because losing one does no harm.
func newRecorder(ctx context.Context, kube kubernetes.Interface) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme, corev1.EventSource{Component: "tdset-controller"})
}

// newQueue returns a queue that retries a failing key after 5 ms, 10 ms, 20 ms and so on, up to a
// minute. It works with durations, so it doesn't need our clock.
func newQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Minute))
}
