//go:build !solution

// How the operator learns about changes: from one informer for Foos and another for Deployments.

package main

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/02-informers/pkg/client"
)

// byOwner is the index of Deployments by the UID of their controller.
const byOwner = "owner"

// controller creates a Deployment for each Foo, and scales it.
type controller struct {
	kube kubernetes.Interface

	fooInformer        cache.TypedSharedIndexInformer[*samplecontrollerv1alpha1.Foo]
	foosLister         listers.ResourceIndexer[*samplecontrollerv1alpha1.Foo]
	deploymentInformer cache.TypedSharedIndexInformer[*appsv1.Deployment]

	working sync.Mutex // so that only one handler works at a time
}

// newController returns a controller for the Foos in namespace; "" means all namespaces. The
// informers never resync.
func newController(config *rest.Config, namespace string) (*controller, error) {
	foos, err := client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Foos: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Deployments: %w", err)
	}
	fooInformer := cache.NewTypedSharedIndexInformer[*samplecontrollerv1alpha1.Foo](cache.NewSharedIndexInformer(
		&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return foos.Foos(namespace).List(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return foos.Foos(namespace).Watch(ctx, options)
			},
		},
		&samplecontrollerv1alpha1.Foo{}, 0, cache.Indexers{}))
	deployments := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace)).Apps().V1().Deployments()
	c := &controller{
		kube:               kube,
		fooInformer:        fooInformer,
		foosLister:         listers.New[*samplecontrollerv1alpha1.Foo](fooInformer.GetIndexer(), samplecontrollerv1alpha1.GroupVersion.WithResource("foos").GroupResource()),
		deploymentInformer: deployments.TypedInformer(),
	}
	return c, c.deploymentInformer.AddTypedIndexers(cache.TypedIndexers[*appsv1.Deployment]{byOwner: indexByOwner})
}

func indexByOwner(deployment *appsv1.Deployment) ([]string, error) {
	if owner := metav1.GetControllerOf(deployment); owner != nil {
		return []string{string(owner.UID)}, nil
	}
	return nil, nil
}

// run handles events until ctx ends.
func (c *controller) run(ctx context.Context) {
	c.addHandlers(ctx)

	var informers sync.WaitGroup
	defer informers.Wait()
	informers.Go(func() { c.fooInformer.RunWithContext(ctx) })
	informers.Go(func() { c.deploymentInformer.RunWithContext(ctx) })
	// The work needs both caches.
	if !cache.WaitForCacheSync(ctx.Done(), c.fooInformer.HasSynced, c.deploymentInformer.HasSynced) {
		return
	}
	klog.InfoS("Caches are synced")
	<-ctx.Done()
}

// addHandlers makes the informers call handle for each Foo that a change concerns.
func (c *controller) addHandlers(ctx context.Context) {
	c.fooInformer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*samplecontrollerv1alpha1.Foo]{
		AddFunc:    func(foo *samplecontrollerv1alpha1.Foo) { c.handleFoo(ctx, foo) },
		UpdateFunc: func(_, foo *samplecontrollerv1alpha1.Foo) { c.handleFoo(ctx, foo) },
	})
	c.deploymentInformer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*appsv1.Deployment]{
		AddFunc:    func(deployment *appsv1.Deployment) { c.handleDeployment(ctx, deployment) },
		UpdateFunc: func(_, deployment *appsv1.Deployment) { c.handleDeployment(ctx, deployment) },
		DeleteFunc: func(deleted cache.DeletedObject[*appsv1.Deployment]) {
			if deployment := deleted.OptionalObj; deployment != nil {
				c.handleDeployment(ctx, deployment)
			}
		},
	})
}

func (c *controller) handleFoo(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) {
	klog.V(4).InfoS("Event received", "kind", "Foo", "object", klog.KObj(foo), "resourceVersion", foo.ResourceVersion)
	c.handle(ctx, types.NamespacedName{Namespace: foo.Namespace, Name: foo.Name})
}

// handleDeployment handles the Foo that controls the Deployment, if there is one.
func (c *controller) handleDeployment(ctx context.Context, deployment *appsv1.Deployment) {
	klog.V(4).InfoS("Event received", "kind", "Deployment", "object", klog.KObj(deployment), "resourceVersion", deployment.ResourceVersion)
	if owner := metav1.GetControllerOf(deployment); owner != nil && owner.Kind == "Foo" && owner.APIVersion == samplecontrollerv1alpha1.GroupVersion.String() {
		c.handle(ctx, types.NamespacedName{Namespace: deployment.Namespace, Name: owner.Name})
	}
}
