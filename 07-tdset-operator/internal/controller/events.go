// Which events enqueue which TDSets, and how their keys wait in the queue. Time enqueues TDSets
// too: see RequeueAfter in tdset_controller.go.

package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// queue is the controller's queue of keys.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// SetupWithManager adds the controller to mgr.
func (r *TDSetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&schedulev2.TDSet{}, builder.WithPredicates(ignoreRepeatedRefusals)).
		// A Deployment or a Service concerns the TDSet of the same name, even if it belongs to
		// someone else: the name may become free. Owns would drop those events.
		Watches(&appsv1.Deployment{}, enqueueTDSetOfName(mgr.GetCache())).
		Watches(&corev1.Service{}, enqueueTDSetOfName(mgr.GetCache())).
		WatchesMetadata(&corev1.Pod{}, handler.Funcs{DeleteFunc: enqueueTDSetOfPod}). // for the drain
		WithOptions(controllerOptions()).
		Complete(r)
}

// enqueueTDSetOfName enqueues the TDSet of an object's name, if there is one. Most Deployments and
// Services of a cluster have nothing to do with a TDSet.
func enqueueTDSetOfName(cache client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		key := client.ObjectKeyFromObject(object)
		if err := cache.Get(ctx, key, &schedulev2.TDSet{}); apierrors.IsNotFound(err) {
			return nil
		}
		return []reconcile.Request{{NamespacedName: key}}
	})
}

// enqueueTDSetOfPod enqueues the TDSet that a deleted Pod belonged to.
func enqueueTDSetOfPod(_ context.Context, deleted event.DeleteEvent, queue queue) {
	tdset := types.NamespacedName{Namespace: deleted.Object.GetNamespace(), Name: deleted.Object.GetLabels()[TDSetLabel]}
	queue.Add(reconcile.Request{NamespacedName: tdset})
}

// controllerOptions sets how keys wait.
func controllerOptions() controller.Options {
	return controller.Options{
		// Each failing key has a backoff of its own, as by default, but the default's longest one is
		// 17 minutes.
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](shortestBackoff, longestBackoff),
		// First come, first served. The priority queue, which is the default, gives the objects
		// that exist at startup the lowest priority. TDSets that were created while the program was
		// down could wait as long as others keep changing.
		UsePriorityQueue: new(false),
	}
}
