// How events arrive: one informer for Foos, one for Deployments. An informer lists and watches (that is its Reflector),
// keeps what it learns in a cache (its Indexer), and calls our handlers. They only put keys into the queue: see queue.go.

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
	fooinformers "example.com/operators/04-codegen/pkg/generated/informers/externalversions"
	foolisters "example.com/operators/04-codegen/pkg/generated/listers/samplecontroller/v1alpha1"
)

// controller makes for each Foo the Deployment that it asks for.
type controller struct {
	foos   versioned.Interface
	client kubernetes.Interface

	fooInformer        cache.SharedIndexInformer
	foosLister         foolisters.FooLister
	deploymentInformer cache.SharedIndexInformer
	deploymentsLister  appslisters.DeploymentLister

	queue    workqueue.TypedRateLimitingInterface[types.NamespacedName]
	recorder record.EventRecorder
}

// newController returns a controller of the Foos in namespace; "" means all namespaces. Every resync (0: never), handlers
// are called again with all that is in the cache.
func newController(client versioned.Interface, kube kubernetes.Interface, recorder record.EventRecorder, namespace string, resync time.Duration) (*controller, error) {
	fooFactory := fooinformers.NewSharedInformerFactoryWithOptions(client, resync, fooinformers.WithNamespace(namespace))
	kubeFactory := informers.NewSharedInformerFactoryWithOptions(kube, resync, informers.WithNamespace(namespace))
	foos := fooFactory.Samplecontroller().V1alpha1().Foos()
	deployments := kubeFactory.Apps().V1().Deployments()
	c := &controller{
		foos:               client,
		client:             kube,
		fooInformer:        foos.Informer(),
		foosLister:         foos.Lister(),
		deploymentInformer: deployments.Informer(),
		deploymentsLister:  deployments.Lister(),
		queue:              newQueue(),
		recorder:           recorder,
	}
	if err := c.fooInformer.AddIndexers(cache.Indexers{byDeploymentName: indexByDeploymentName}); err != nil {
		return nil, fmt.Errorf("index Foos: %w", err)
	}
	if err := c.deploymentInformer.AddIndexers(cache.Indexers{byOwner: indexByOwner}); err != nil {
		return nil, fmt.Errorf("index Deployments: %w", err)
	}
	for _, informer := range []cache.SharedIndexInformer{c.fooInformer, c.deploymentInformer} {
		if err := informer.SetWatchErrorHandlerWithContext(explain); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// run acts on events, with so many workers at once, until ctx ends and the work under way is done, or given up since leading ended.
func (c *controller) run(ctx, leading context.Context, workers int) {
	defer c.queue.ShutDown()
	c.fooInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueueFoo,
		UpdateFunc: func(_, foo any) { c.enqueueFoo(foo) },
	})
	c.deploymentInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.handleObject,
		UpdateFunc: func(old, new any) {
			// The same resourceVersion: a resync, and no change. The Foo's own resync does the work.
			if old.(*appsv1.Deployment).ResourceVersion != new.(*appsv1.Deployment).ResourceVersion {
				c.handleObject(new)
			}
		},
		DeleteFunc: c.handleObject,
	})

	var informers sync.WaitGroup
	defer informers.Wait()
	informers.Go(func() { c.deploymentInformer.RunWithContext(ctx) })
	informers.Go(func() { c.fooInformer.RunWithContext(ctx) })
	// Both caches, before the first key is taken: a worker that found one empty would make what is there already.
	if !cache.WaitForCacheSync(ctx.Done(), c.deploymentInformer.HasSynced, c.fooInformer.HasSynced) {
		return
	}
	klog.InfoS("Caches are synced")
	c.runWorkers(ctx, leading, workers)
}

// enqueueFoo queues the key of a Foo that was added or changed. For a deleted one there is nothing to do: its Deployment
// has an owner reference to it, so the garbage collector deletes that.
func (c *controller) enqueueFoo(obj any) {
	foo := obj.(*v1alpha1.Foo)
	c.queue.Add(types.NamespacedName{Namespace: foo.Namespace, Name: foo.Name})
}

// handleObject queues the Foos that a change of a Deployment may concern.
func (c *controller) handleObject(obj any) {
	// The watch may have missed a deletion. Then what comes is a tombstone, with the last state that the cache had.
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	deployment, ok := obj.(*appsv1.Deployment)
	if !ok {
		klog.ErrorS(nil, "Not a Deployment", "type", fmt.Sprintf("%T", obj))
		return
	}
	keys, err := c.foosOf(deployment)
	if err != nil {
		klog.ErrorS(err, "Lost an event: the index can't be read", "deployment", klog.KObj(deployment))
	}
	for _, key := range keys {
		c.queue.Add(key)
	}
}

// foosOf returns the keys of the Foos that a change of deployment may concern: the one that controls it, and those that want
// its name and may have it now, or no longer.
func (c *controller) foosOf(deployment metav1.Object) ([]types.NamespacedName, error) {
	foos, err := c.listFoos(deployment.GetNamespace(), deployment.GetName())
	if err != nil {
		return nil, err
	}
	var keys []types.NamespacedName
	for _, foo := range foos {
		keys = append(keys, types.NamespacedName{Namespace: foo.Namespace, Name: foo.Name})
	}
	if owner := metav1.GetControllerOf(deployment); owner != nil && isFoo(owner) {
		key := types.NamespacedName{Namespace: deployment.GetNamespace(), Name: owner.Name}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// isFoo tells whether an owner reference names a Foo of our group, in any version, and not somebody else's kind of the same name.
func isFoo(owner *metav1.OwnerReference) bool {
	groupVersion, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && groupVersion.Group == v1alpha1.GroupVersion.Group && owner.Kind == "Foo"
}

// explain logs why a list or watch failed. The Reflector tries again, by itself, with growing pauses.
func explain(ctx context.Context, reflector *cache.Reflector, err error) {
	switch {
	case apierrors.IsNotFound(err):
		klog.InfoS("Waiting: the server doesn't know this resource: is the CRD applied (manifests/crd.yaml)?", "type", reflector.TypeDescription())
	case apierrors.IsForbidden(err):
		klog.InfoS("Waiting: are the permissions applied (manifests/rbac.yaml)?", "err", err)
	case apierrors.IsUnauthorized(err):
		klog.InfoS("Waiting: the server refuses the credentials; if they have expired, renew the kubeconfig and start again", "err", err)
	default:
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	}
}
