// The informers, their handlers, the queue and its workers, as in this chapter.

package main

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
	fooinformers "example.com/operators/04-codegen/pkg/generated/informers/externalversions"
	foolisters "example.com/operators/04-codegen/pkg/generated/listers/samplecontroller/v1alpha1"
)

const workers = 2

// controller creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type controller struct {
	kube kubernetes.Interface

	fooInformer        cache.SharedIndexInformer
	foosLister         foolisters.FooLister
	deploymentInformer cache.SharedIndexInformer
	deploymentsLister  appslisters.DeploymentLister

	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
}

// newController returns a controller for the Foos in namespace; "" means all namespaces.
func newController(client versioned.Interface, kube kubernetes.Interface, namespace string) *controller {
	foos := fooinformers.NewSharedInformerFactoryWithOptions(client, 0, fooinformers.WithNamespace(namespace)).Samplecontroller().V1alpha1().Foos()
	deployments := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace)).Apps().V1().Deployments()
	return &controller{
		kube:               kube,
		fooInformer:        foos.Informer(),
		foosLister:         foos.Lister(),
		deploymentInformer: deployments.Informer(),
		deploymentsLister:  deployments.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Minute)),
	}
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
