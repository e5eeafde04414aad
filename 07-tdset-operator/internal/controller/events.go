// How events arrive: which of them bring which TDSets, and how their keys wait. That time brings TDSets too is in clock.go, and at the end
// of Reconcile.

package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "example.com/operators/07-tdset-operator/api/v1"
)

// SetupWithManager adds the controller to mgr: which events bring which TDSets, and how many of them may be worked on at once. The server
// must know all that is watched.
func (r *TDSetReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, workers int) error {
	if err := makeInformers(ctx, mgr.GetCache()); err != nil {
		return err
	}
	// The same resourceVersion: a resync, and no change. The TDSet's own resync does the work.
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1.TDSet{}, builder.WithPredicates(notReworded)).
		// A Deployment or a Service concerns the TDSet of its name, whosever it is, so its own key is the one to bring. Owns would leave
		// those out that aren't ours, or no longer.
		Watches(&appsv1.Deployment{}, &handler.EnqueueRequestForObject{}, changed).
		Watches(&corev1.Service{}, &handler.EnqueueRequestForObject{}, changed).
		WatchesMetadata(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(tdsetOfPod), builder.WithPredicates(onlyDeletes)). // for the drain
		WatchesRawSource(source.Func(r.watchClock(readClocks()))).
		WithOptions(controllerOptions(workers)).
		Complete(r)
}

// makeInformers makes the informers of all that the controller watches, in a cache that isn't started yet. The manager fills those first, on
// every copy, and waits for that without a limit: for permissions, say. Those that the controller made would be filled by the leader alone,
// and after two minutes (CacheSyncTimeout) the program would end.
func makeInformers(ctx context.Context, informers cache.Informers) error {
	pod := &metav1.PartialObjectMetadata{}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	for _, object := range []client.Object{&v1.TDSet{}, &appsv1.Deployment{}, &corev1.Service{}, pod} {
		if _, err := informers.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("make an informer: %w", err)
		}
	}
	return nil
}

// notReworded lets all events of TDSets through but one: what was refused is refused again, in other words. Those may have a time in them, or
// the number of a request. The status that says so is our own, and would bring the TDSet back at once: again and again, with no pause.
var notReworded = predicate.Funcs{UpdateFunc: func(update event.UpdateEvent) bool {
	return update.ObjectOld.GetResourceVersion() == update.ObjectNew.GetResourceVersion() || // a resync
		!equality.Semantic.DeepEqual(withoutWords(update.ObjectOld), withoutWords(update.ObjectNew))
}}

// withoutWords returns a copy of a TDSet without the message of its condition Degraded, and without what every write changes.
func withoutWords(object client.Object) client.Object {
	tdset := object.(*v1.TDSet).DeepCopy()
	tdset.ResourceVersion, tdset.ManagedFields = "", nil
	if degraded := meta.FindStatusCondition(tdset.Status.Conditions, conditionDegraded); degraded != nil {
		degraded.Message = ""
	}
	return tdset
}

// onlyDeletes lets only those events through that say that an object is gone.
var onlyDeletes = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// tdsetOfPod returns the key of the TDSet that a Pod belongs to.
func tdsetOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetLabels()[TDSetLabel]}}}
}

// controllerOptions says how keys wait, and how many are worked on at once.
func controllerOptions(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		// It slows down failing keys, each by itself, as the default does, whose longest pause is 17 minutes.
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](shortestBackoff, longestBackoff),
		// First come, first served. By default what is there at the start comes last: TDSets that were made while the program was down would
		// wait until nothing happens to the others any more.
		UsePriorityQueue: new(false),
	}
}
