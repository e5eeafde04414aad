// The informers, their handlers, the queue and its workers, as in this chapter.

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/listers"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/03-workqueue/pkg/client"
)

const (
	workers      = 4
	resyncPeriod = 10 * time.Minute
)

// controller creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type controller struct {
	foos client.Interface
	kube kubernetes.Interface

	fooInformer        cache.SharedIndexInformer
	foosLister         listers.ResourceIndexer[*samplecontrollerv1alpha1.Foo]
	deploymentInformer cache.SharedIndexInformer
	deploymentsLister  appslisters.DeploymentLister

	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
}

// newController returns a controller for the Foos in namespace; "" means all namespaces.
func newController(config *rest.Config, namespace string) (*controller, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // no limit, because the API server has one that treats all clients fairly
	foos, err := client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Foos: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Deployments: %w", err)
	}
	fooInformer := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return foos.Foos(namespace).List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return foos.Foos(namespace).Watch(ctx, options)
		},
	}, &samplecontrollerv1alpha1.Foo{}, resyncPeriod, cache.Indexers{})
	deployments := informers.NewSharedInformerFactoryWithOptions(kube, resyncPeriod, informers.WithNamespace(namespace)).Apps().V1().Deployments()
	return &controller{
		foos:               foos,
		kube:               kube,
		fooInformer:        fooInformer,
		foosLister:         listers.New[*samplecontrollerv1alpha1.Foo](fooInformer.GetIndexer(), samplecontrollerv1alpha1.GroupVersion.WithResource("foos").GroupResource()),
		deploymentInformer: deployments.Informer(),
		deploymentsLister:  deployments.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Minute)),
	}, nil
}

// run handles events until ctx ends. Then the workers finish the keys in the queue.
func (c *controller) run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.fooInformer.RunWithContext(ctx) })
	running.Go(func() { c.deploymentInformer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), c.fooInformer.HasSynced, c.deploymentInformer.HasSynced) {
		return
	}
	klog.InfoS("Caches are synced")

	c.fooInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.handleFoo(ctx, obj) },
		UpdateFunc: func(_, obj any) { c.handleFoo(ctx, obj) },
	})
	c.deploymentInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.handleDeployment(ctx, obj) },
		UpdateFunc: func(_, obj any) { c.handleDeployment(ctx, obj) },
		DeleteFunc: func(obj any) { c.handleDeployment(ctx, obj) },
	})
	for range workers {
		running.Go(func() {
			for c.processNextWorkItem(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown()
}

// handleFoo enqueues a Foo that was added or changed.
func (c *controller) handleFoo(ctx context.Context, obj any) {
	foo := obj.(*samplecontrollerv1alpha1.Foo)
	klog.FromContext(ctx).V(4).Info("Event received", "kind", "Foo", "object", klog.KObj(foo), "resourceVersion", foo.ResourceVersion)
	c.enqueue(ctx, types.NamespacedName{Namespace: foo.Namespace, Name: foo.Name})
}

// handleDeployment enqueues the Foo that controls a Deployment. If the watch missed the deletion,
// the Deployment comes in a tombstone.
func (c *controller) handleDeployment(ctx context.Context, obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	deployment, ok := obj.(*appsv1.Deployment)
	if !ok {
		return
	}
	klog.FromContext(ctx).V(4).Info("Event received", "kind", "Deployment", "object", klog.KObj(deployment), "resourceVersion", deployment.ResourceVersion)
	if owner := metav1.GetControllerOf(deployment); owner != nil && owner.Kind == "Foo" {
		c.enqueue(ctx, types.NamespacedName{Namespace: deployment.Namespace, Name: owner.Name})
	}
}

func (c *controller) enqueue(ctx context.Context, key types.NamespacedName) {
	klog.FromContext(ctx).V(4).Info("Key queued", "foo", key)
	c.queue.Add(key)
}

// processNextWorkItem waits for a key, processes it, and reports whether there may be another one.
func (c *controller) processNextWorkItem(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)

	logger := klog.FromContext(ctx).WithValues("foo", key)
	logger.V(4).Info("Work started")
	err := c.syncHandler(klog.NewContext(ctx, logger), key)
	logger.V(4).Info("Work finished", "err", err)
	switch {
	case err == nil:
		c.queue.Forget(key)
		return true
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		logger.V(2).Info("Conflict, retrying", "err", err)
	case ctx.Err() == nil:
		logger.Error(err, "Retrying", "failures", c.queue.NumRequeues(key)+1)
	}
	c.queue.AddRateLimited(key)
	return true
}
