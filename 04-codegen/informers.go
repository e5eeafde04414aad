// How the controller learns about changes: from one informer for Foos and another for Deployments.
// An informer lists and watches objects (its Reflector does this), keeps them in a cache (its
// Indexer), and calls handlers.

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned/scheme"
	fooinformers "example.com/operators/04-codegen/pkg/generated/informers/externalversions"
	foolisters "example.com/operators/04-codegen/pkg/generated/listers/samplecontroller/v1alpha1"
)

// controller creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type controller struct {
	foos versioned.Interface
	kube kubernetes.Interface

	fooFactory  fooinformers.SharedInformerFactory
	kubeFactory informers.SharedInformerFactory

	fooInformer        cache.TypedSharedIndexInformer[*samplecontrollerv1alpha1.Foo]
	foosLister         foolisters.FooLister
	deploymentInformer cache.TypedSharedIndexInformer[*appsv1.Deployment]
	deploymentsLister  appslisters.DeploymentLister

	queue    queue
	recorder record.EventRecorder
}

// newController returns a controller for the Foos in namespace; "" means all namespaces. After each
// resyncPeriod (0 means never), the informers call the handlers again for every cached object. It
// records Events until ctx ends, and doesn't wait for the last ones, because losing one does no harm.
func newController(ctx context.Context, foos versioned.Interface, kube kubernetes.Interface, namespace string, resyncPeriod time.Duration) (*controller, error) {
	fooFactory := fooinformers.NewSharedInformerFactoryWithOptions(foos, resyncPeriod, fooinformers.WithNamespace(namespace))
	kubeFactory := informers.NewSharedInformerFactoryWithOptions(kube, resyncPeriod, informers.WithNamespace(namespace))
	fooInformers := fooFactory.Samplecontroller().V1alpha1().Foos()
	deployments := kubeFactory.Apps().V1().Deployments()
	broadcaster := record.NewBroadcaster(record.WithContext(ctx)) // for Events
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	c := &controller{
		foos:               foos,
		kube:               kube,
		fooFactory:         fooFactory,
		kubeFactory:        kubeFactory,
		fooInformer:        fooInformers.TypedInformer(),
		foosLister:         fooInformers.Lister(),
		deploymentInformer: deployments.TypedInformer(),
		deploymentsLister:  deployments.Lister(),
		queue:              newQueue(),
		recorder:           broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "foo-controller"}),
	}
	for _, informer := range []cache.SharedIndexInformer{c.fooInformer, c.deploymentInformer} {
		if err := informer.SetWatchErrorHandlerWithContext(watchErrorHandler); err != nil {
			return nil, fmt.Errorf("watch error handler: %w", err)
		}
	}
	return c, c.addIndexes()
}

// run handles events until ctx ends. Then the workers get up to shutdownTimeout to finish.
func (c *controller) run(ctx context.Context, workers int) {
	defer c.fooFactory.Shutdown() // waits until the factory's informers have stopped
	c.fooFactory.StartWithContext(ctx)
	defer c.kubeFactory.Shutdown()
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
	c.runWorkers(ctx, workers)
}
