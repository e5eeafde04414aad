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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/listers"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/02-informers/pkg/client"
)

// controller creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type controller struct {
	foos client.Interface
	kube kubernetes.Interface

	kubeFactory informers.SharedInformerFactory

	fooInformer        cache.TypedSharedIndexInformer[*samplecontrollerv1alpha1.Foo]
	foosLister         listers.ResourceIndexer[*samplecontrollerv1alpha1.Foo]
	deploymentInformer cache.TypedSharedIndexInformer[*appsv1.Deployment]
	deploymentsLister  appslisters.DeploymentLister

	working sync.Mutex // so that only one handler works at a time
}

// newController returns a controller for the Foos in namespace; "" means all namespaces. After each
// resyncPeriod (0 means never), the informers call the handlers again for every cached object.
func newController(foos client.Interface, kube kubernetes.Interface, namespace string, resyncPeriod time.Duration) (*controller, error) {
	fooInformer := cache.NewTypedSharedIndexInformer[*samplecontrollerv1alpha1.Foo](cache.NewSharedIndexInformer(
		&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return foos.Foos(namespace).List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return foos.Foos(namespace).Watch(ctx, options)
			},
		},
		&samplecontrollerv1alpha1.Foo{}, resyncPeriod, cache.Indexers{}))
	// client-go's factory makes, starts and stops informers for built-in types such as Deployment.
	kubeFactory := informers.NewSharedInformerFactoryWithOptions(kube, resyncPeriod, informers.WithNamespace(namespace))
	deployments := kubeFactory.Apps().V1().Deployments()
	c := &controller{
		foos:               foos,
		kube:               kube,
		kubeFactory:        kubeFactory,
		fooInformer:        fooInformer,
		foosLister:         listers.New[*samplecontrollerv1alpha1.Foo](fooInformer.GetIndexer(), samplecontrollerv1alpha1.GroupVersion.WithResource("foos").GroupResource()),
		deploymentInformer: deployments.TypedInformer(),
		deploymentsLister:  deployments.Lister(),
	}
	for _, informer := range []cache.SharedIndexInformer{c.fooInformer, c.deploymentInformer} {
		if err := informer.SetWatchErrorHandlerWithContext(watchErrorHandler); err != nil {
			return nil, fmt.Errorf("watch error handler: %w", err)
		}
	}
	return c, c.addIndexes()
}

// run handles events until ctx ends.
func (c *controller) run(ctx context.Context) {
	var foos sync.WaitGroup
	defer foos.Wait()
	foos.Go(func() { c.fooInformer.RunWithContext(ctx) })
	defer c.kubeFactory.Shutdown() // waits until the factory's informers have stopped
	c.kubeFactory.StartWithContext(ctx)
	// syncHandler reads both caches, so wait for them before the first event is handled.
	if !cache.WaitForCacheSync(ctx.Done(), c.fooInformer.HasSynced, c.deploymentInformer.HasSynced) {
		return
	}
	klog.InfoS("Caches are synced")

	// A new handler is first called with everything that is in the cache.
	c.fooInformer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*samplecontrollerv1alpha1.Foo]{
		AddFunc:    func(foo *samplecontrollerv1alpha1.Foo) { c.handleFoo(ctx, foo) },
		UpdateFunc: func(_, foo *samplecontrollerv1alpha1.Foo) { c.handleFoo(ctx, foo) },
	})
	c.deploymentInformer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*appsv1.Deployment]{
		AddFunc: func(deployment *appsv1.Deployment) { c.handleObject(ctx, deployment) },
		UpdateFunc: func(before, deployment *appsv1.Deployment) {
			// If the resourceVersion is the same, this is a resync and not a change. The resync of
			// the Foos is enough.
			if before.ResourceVersion != deployment.ResourceVersion {
				c.handleObject(ctx, deployment)
			}
		},
		DeleteFunc: func(deleted cache.DeletedObject[*appsv1.Deployment]) {
			// If the watch missed the deletion, this is the last cached version, or nil.
			if deployment := deleted.OptionalObj; deployment != nil {
				c.handleObject(ctx, deployment)
			}
		},
	})
	<-ctx.Done()
}
