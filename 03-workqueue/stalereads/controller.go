// The controller: it gives each Foo its Pods, and writes their number into the Foo's status. The
// server chooses the Pods' names, so nothing but the controller's own care prevents a surplus.

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/03-workqueue/pkg/client"
)

// A way is what the controller does about a cache that is behind.
type way int

const (
	trustCache      way = iota
	useExpectations     // create no more Pods until the last ones have arrived
	readLive            // ask the server before a write
	trackWrites         // process a Foo only when the cache has our last writes for it
)

const byOwner = "owner"

type controller struct {
	way way

	foos      client.FooInterface
	pods      typedcorev1.PodInterface
	fooCache  cache.TypedSharedIndexInformer[*samplecontrollerv1alpha1.Foo]
	podCache  cache.TypedSharedIndexInformer[*corev1.Pod]
	queue     workqueue.TypedRateLimitingInterface[types.NamespacedName]
	expected  *expectations     // kept up to date in any case, but only useExpectations asks it
	ownWrites *consistencyStore // the same for trackWrites
}

// start returns a function that starts a controller, and returns when its caches are filled.
func start(way way) starter {
	return func(ctx context.Context, config *rest.Config, namespace string) error {
		foos, err := client.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("client for Foos: %w", err)
		}
		kube, err := kubernetes.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("client for Pods: %w", err)
		}
		c, err := newController(way, foos.Foos(namespace), kube, namespace)
		if err != nil {
			return err
		}
		return c.run(ctx)
	}
}

func newController(way way, foos client.FooInterface, kube kubernetes.Interface, namespace string) (*controller, error) {
	c := &controller{
		way:  way,
		foos: foos,
		pods: kube.CoreV1().Pods(namespace),
		fooCache: cache.NewTypedSharedIndexInformer[*samplecontrollerv1alpha1.Foo](cache.NewSharedIndexInformer(
			&cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
					return foos.List(ctx, options)
				},
				WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
					return foos.Watch(ctx, options)
				},
			},
			&samplecontrollerv1alpha1.Foo{}, 0, cache.Indexers{})),
		podCache: informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace)).Core().V1().Pods().TypedInformer(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Minute)),
		expected: newExpectations(),
	}
	c.ownWrites = newConsistencyStore(map[string]lastSynced{"foos": c.fooCache.GetStore(), "pods": c.podCache.GetStore()})
	return c, c.podCache.AddTypedIndexers(cache.TypedIndexers[*corev1.Pod]{byOwner: func(pod *corev1.Pod) ([]string, error) {
		return []string{ownerOf(pod).String()}, nil
	}})
}

// run returns when the caches are filled. The controller then works until ctx ends.
func (c *controller) run(ctx context.Context) error {
	c.fooCache.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*samplecontrollerv1alpha1.Foo]{
		AddFunc:    func(foo *samplecontrollerv1alpha1.Foo) { c.queue.Add(keyOf(foo)) },
		UpdateFunc: func(_, foo *samplecontrollerv1alpha1.Foo) { c.queue.Add(keyOf(foo)) },
	})
	c.podCache.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
		AddFunc: func(pod *corev1.Pod) {
			c.expected.creationsObserved(ownerOf(pod), 1)
			c.queue.Add(ownerOf(pod))
		},
		DeleteFunc: func(deleted cache.DeletedObject[*corev1.Pod]) {
			if pod := deleted.OptionalObj; pod != nil {
				c.queue.Add(ownerOf(pod))
			}
		},
	})
	go c.fooCache.RunWithContext(ctx)
	go c.podCache.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), c.fooCache.HasSynced, c.podCache.HasSynced) {
		return context.Cause(ctx)
	}
	context.AfterFunc(ctx, c.queue.ShutDown)
	for range 4 {
		go c.runWorker(ctx)
	}
	return nil
}

func (c *controller) runWorker(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if err := c.sync(ctx, key); err != nil {
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// ownerOf returns the key of the Foo that controls a Pod. In the experiment, each Pod has one.
func ownerOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: metav1.GetControllerOf(pod).Name}
}
