// The controller: how events arrive (SetupWithManager, at the end) and what is done about a Foo. Reconcile never asks which event
// brought it here: it compares what is with what should be, so it is right after any event, after none that it saw, and after the
// same one twice. desired.go says what a Foo wants; read.go and write.go have the requests.

package controller

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

	"example.com/operators/06-kubebuilder/api/v1alpha1"
)

const (
	shortestBackoff = 5 * time.Millisecond // after the first failure; each further failure doubles it
	longestBackoff  = time.Minute
	conflictPause   = time.Second // the event of the other write usually arrives sooner
)

// FooReconciler makes for each Foo the Deployment that it asks for.
type FooReconciler struct {
	client.Client               // reads from the manager's cache, writes to the API server
	Live          client.Reader // reads from the API server
	Recorder      events.EventRecorder
	terminating   terminatingOwners
}

// What the controller may do, and no more: config/rbac/role.yaml is made from these markers, which nothing compares with the code.
// An apply is a patch; one that makes an object needs create as well. An owner reference with blockOwnerDeletion may only be set by
// who may update the owner's finalizers (admission plugin OwnerReferencesPermissionEnforcement).
//
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos,verbs=list;watch
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos/status,verbs=patch
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile is called with each key from the queue. Its result decides whether the key is retried.
// In chapters 03 and 04, the worker decided that.
func (r *FooReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	err := r.syncHandler(ctx, req.NamespacedName)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		// The cache was behind, which happens in every controller. Don't return this as an error,
		// because controller-runtime would log it as one.
		ctrl.LoggerFrom(ctx).V(2).Info("Someone else wrote first, retrying", "err", err)
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	return ctrl.Result{}, err
}

// syncHandler makes the cluster match the Foo with that key. sample-controller gave it this name.
func (r *FooReconciler) syncHandler(ctx context.Context, key types.NamespacedName) error {
	// 1. Read the Foo. If it is gone or being deleted, the garbage collector deletes its
	// Deployment, so don't create one now.
	foo := &v1alpha1.Foo{}
	if err := r.Get(ctx, key, foo); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return nil
	}

	// 2. Create or update the Deployment that it names. A write causes an event, and that event
	// leads to the remaining steps.
	deployment, err := r.syncDeployment(ctx, foo)
	if err != nil || deployment == nil {
		return err
	}

	// 3. Delete Deployments that it named before, but only once the new one exists.
	if controls(foo, deployment) {
		if err := r.deleteFormer(ctx, foo); err != nil {
			return err
		}
	}

	// 4. Update the status, but only if it has changed.
	status := desiredStatus(foo, deployment, metav1.Now())
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	ctrl.LoggerFrom(ctx).V(2).Info("Updating the status", "availableReplicas", status.AvailableReplicas)
	if err := r.updateFooStatus(ctx, foo, status); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	r.recordEvent(foo, status)
	return nil
}

// recordEvent tells foo's users what its status says now, if that is something new. The status has just been written under
// the assumption that foo is the latest there is, so nobody else has told them.
func (r *FooReconciler) recordEvent(foo *v1alpha1.Foo, status v1alpha1.FooStatus) {
	before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady)
	now := meta.FindStatusCondition(status.Conditions, conditionReady)
	if before != nil && before.Reason == now.Reason {
		return
	}
	switch now.Reason {
	case reasonAvailable:
		r.Recorder.Eventf(foo, nil, corev1.EventTypeNormal, "Synced", "Sync", "%s", now.Message)
	case errResourceExists:
		r.Recorder.Eventf(foo, nil, corev1.EventTypeWarning, errResourceExists, "Sync", "%s", now.Message)
	}
}

// syncDeployment returns the Deployment that foo names, or nil if it has just created or updated it
// (or can't, because the namespace is being deleted).
func (r *FooReconciler) syncDeployment(ctx context.Context, foo *v1alpha1.Foo) (*appsv1.Deployment, error) {
	log := ctrl.LoggerFrom(ctx) // it names the Foo
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	key, observed := client.ObjectKey{Namespace: foo.Namespace, Name: name}, &appsv1.Deployment{}
	err := r.Get(ctx, key, observed)
	if apierrors.IsNotFound(err) {
		// What the cache doesn't have may be on its way there, and an apply changes what it finds.
		err = r.Live.Get(ctx, key, observed)
	}
	switch {
	case apierrors.IsNotFound(err) && r.terminating.has(foo):
		return nil, nil // the Foo will be deleted with its namespace
	case apierrors.IsNotFound(err):
		log.Info("Creating", "deployment", klog.KRef(foo.Namespace, name))
		if err := r.createDeployment(ctx, desired); err != nil && !r.terminating.refused(foo, err) {
			return nil, fmt.Errorf("create Deployment %s: %w", name, err)
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", name, err)
	case !controls(foo, observed):
		// Someone else's, or on its way out. The event that changes this brings us back: no error, nothing to retry.
		log.V(2).Info("Leaving alone", "deployment", klog.KObj(observed))
		return observed, nil
	case upToDate(observed, desired):
		return observed, nil
	}
	log.Info("Updating", "deployment", klog.KObj(observed))
	if err := r.updateDeployment(ctx, observed, desired); err != nil {
		return nil, fmt.Errorf("update Deployment %s: %w", name, err)
	}
	return nil, nil
}

// deleteFormer deletes the Deployments that foo controls under another name than the one it wants now.
func (r *FooReconciler) deleteFormer(ctx context.Context, foo *v1alpha1.Foo) error {
	var deployments appsv1.DeploymentList
	if err := r.List(ctx, &deployments, client.InNamespace(foo.Namespace), client.MatchingFields{byOwner: string(foo.UID)}); err != nil {
		return fmt.Errorf("list the Deployments of the Foo: %w", err)
	}
	for i := range deployments.Items {
		former := &deployments.Items[i]
		if former.Name == foo.Spec.DeploymentName || !controls(foo, former) {
			continue
		}
		ctrl.LoggerFrom(ctx).Info("Deleting", "deployment", klog.KObj(former))
		if err := r.deleteDeployment(ctx, former); err != nil {
			return fmt.Errorf("delete Deployment %s: %w", former.Name, err)
		}
	}
	return nil
}

// SetupWithManager adds the controller to mgr: what it asks the cache by, which events bring which Foos, and how many of them may be
// worked on at once.
func (r *FooReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, workers int) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.Foo{}, byDeploymentName, indexByDeploymentName); err != nil {
		return fmt.Errorf("index Foos: %w", err)
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, &appsv1.Deployment{}, byOwner, indexByOwner); err != nil {
		return fmt.Errorf("index Deployments: %w", err)
	}
	// The same resourceVersion: a resync, and no change. The Foo's own resync does the work.
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Foo{}).
		Owns(&appsv1.Deployment{}, changed).                                                        // brings the Foo that controls it
		Watches(&appsv1.Deployment{}, handler.EnqueueRequestsFromMapFunc(r.foosThatWant), changed). // and those that want its name
		WithOptions(controllerOptions(workers)).
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
func (r *FooReconciler) foosThatWant(ctx context.Context, deployment client.Object) []reconcile.Request {
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
