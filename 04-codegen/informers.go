// How the controller learns about changes: from one informer for Foos and another for Deployments.
// An informer lists and watches objects (its Reflector does this), keeps them in a cache (its
// Indexer), and calls handlers.

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
	fooinformers "example.com/operators/04-codegen/pkg/generated/informers/externalversions"
	foolisters "example.com/operators/04-codegen/pkg/generated/listers/samplecontroller/v1alpha1"
)

// controller creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type controller struct {
	foos versioned.Interface
	kube kubernetes.Interface

	fooInformer        cache.SharedIndexInformer
	foosLister         foolisters.FooLister
	deploymentInformer cache.SharedIndexInformer
	deploymentsLister  appslisters.DeploymentLister

	queue    workqueue.TypedRateLimitingInterface[types.NamespacedName]
	recorder record.EventRecorder

	terminating terminatingOwners
}

// newController returns a controller for the Foos in namespace; "" means all namespaces. After each
// resyncPeriod (0 means never), the handlers get everything in the caches again.
func newController(foos versioned.Interface, kube kubernetes.Interface, recorder record.EventRecorder, namespace string, resyncPeriod time.Duration) (*controller, error) {
	fooInformers := fooinformers.NewSharedInformerFactoryWithOptions(foos, resyncPeriod, fooinformers.WithNamespace(namespace)).Samplecontroller().V1alpha1().Foos()
	deployments := informers.NewSharedInformerFactoryWithOptions(kube, resyncPeriod, informers.WithNamespace(namespace)).Apps().V1().Deployments()
	c := &controller{
		foos:               foos,
		kube:               kube,
		fooInformer:        fooInformers.Informer(),
		foosLister:         fooInformers.Lister(),
		deploymentInformer: deployments.Informer(),
		deploymentsLister:  deployments.Lister(),
		queue:              newQueue(),
		recorder:           recorder,
	}
	for _, informer := range []cache.SharedIndexInformer{c.fooInformer, c.deploymentInformer} {
		if err := informer.SetWatchErrorHandlerWithContext(watchErrorHandler); err != nil {
			return nil, fmt.Errorf("watch error handler: %w", err)
		}
	}
	return c, c.addIndexes()
}

// run handles events with that many workers until ctx ends. It returns when they have finished
// their work, or soon after leading ends.
func (c *controller) run(ctx, leading context.Context, workers int) {
	defer c.queue.ShutDown()
	c.fooInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(foo any) { c.handleFoo(ctx, foo) },
		UpdateFunc: func(_, foo any) { c.handleFoo(ctx, foo) },
	})
	c.deploymentInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(deployment any) { c.handleObject(ctx, deployment) },
		UpdateFunc: func(old, new any) {
			// If the resourceVersion is the same, this is a resync and not a change. The resync of
			// the Foos is enough.
			if old.(*appsv1.Deployment).ResourceVersion != new.(*appsv1.Deployment).ResourceVersion {
				c.handleObject(ctx, new)
			}
		},
		DeleteFunc: func(deployment any) { c.handleObject(ctx, deployment) },
	})

	var informers sync.WaitGroup
	defer informers.Wait()
	informers.Go(func() { c.deploymentInformer.RunWithContext(ctx) })
	informers.Go(func() { c.fooInformer.RunWithContext(ctx) })
	// Wait for both caches before the first key is processed. With an empty cache, a worker would
	// create Deployments that exist already.
	if !cache.WaitForCacheSync(ctx.Done(), c.deploymentInformer.HasSynced, c.fooInformer.HasSynced) {
		return
	}
	klog.InfoS("Caches are synced")
	c.runWorkers(ctx, leading, workers)
}
