// How events arrive: the manager has an informer for each type, and makes the controller's queue and workers. What is left to say is
// which events concern which Foos.

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

const (
	shortestBackoff = 5 * time.Millisecond // after the first failure; each further failure doubles it
	longestBackoff  = time.Minute
	conflictPause   = time.Second // the event of the other write usually arrives sooner
)

// reconciler makes for each Foo the Deployment that it asks for.
type reconciler struct {
	client.Client               // reads from the manager's cache, writes to the API server
	live          client.Reader // reads from the API server
	recorder      events.EventRecorder
	terminating   terminatingOwners
}

// setUp adds the controller to mgr: what it asks the cache by, and which events bring which Foos.
func setUp(ctx context.Context, mgr ctrl.Manager, o options) error {
	r := &reconciler{Client: mgr.GetClient(), live: mgr.GetAPIReader(), recorder: mgr.GetEventRecorder("foo-controller")}
	var foo, deployment client.Object = &v1alpha1.Foo{}, &appsv1.Deployment{}
	if o.unstructured {
		r.Client = untypedClient{r.Client}
		foo, deployment = untyped(v1alpha1.GroupVersion.WithKind("Foo")), untyped(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, foo, byDeploymentName, indexByDeploymentName); err != nil {
		return fmt.Errorf("index Foos: %w", err)
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, deployment, byOwner, indexByOwner); err != nil {
		return fmt.Errorf("index Deployments: %w", err)
	}
	// The same resourceVersion: a resync, and no change. The Foo's own resync does the work.
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(foo).
		Owns(deployment, changed).                                                        // brings the Foo that controls it
		Watches(deployment, handler.EnqueueRequestsFromMapFunc(r.foosThatWant), changed). // and those that want its name
		WithOptions(controllerOptions(o.workers)).
		Complete(r)
}

// controllerOptions says how keys wait, and how many are worked on at once.
func controllerOptions(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		// It slows down failing keys, each by itself, as the default does, whose longest pause is 17 minutes.
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](shortestBackoff, longestBackoff),
		// First come, first served. By default what is there at the start comes last: Foos that were made while the program was down would wait
		// until nothing happens to the others any more.
		UsePriorityQueue: new(false),
	}
}

// foosThatWant returns the keys of the Foos that want a Deployment's name, and may have it now, or no longer.
func (r *reconciler) foosThatWant(ctx context.Context, deployment client.Object) []reconcile.Request {
	var foos v1alpha1.FooList
	err := r.List(ctx, &foos, client.InNamespace(deployment.GetNamespace()), client.MatchingFields{byDeploymentName: deployment.GetName()})
	if err != nil {
		klog.ErrorS(err, "Lost an event: the index can't be read", "deployment", klog.KObj(deployment))
	}
	var keys []reconcile.Request
	for i := range foos.Items {
		keys = append(keys, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&foos.Items[i])})
	}
	return keys
}
