// The controller. controller-runtime provides the informers, their caches, the queue and the
// workers. You only say which events concern which Foos (SetupWithManager), and do the work on one
// Foo (Reconcile).

package controller

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// FooReconciler creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type FooReconciler struct {
	client.Client               // reads from the manager's cache, writes to the API server
	APIReader     client.Reader // reads from the API server
	Recorder      events.EventRecorder
}

// The permissions of the controller. controller-gen writes config/rbac/role.yaml from these markers,
// but nothing compares them with the code. An apply is a patch, and needs create for a new object.
// Some API servers allow an owner reference with blockOwnerDeletion only to those who may update the
// owner's finalizers (admission plugin OwnerReferencesPermissionEnforcement).
//
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos,verbs=list;watch
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos/status,verbs=patch
// +kubebuilder:rbac:groups=samplecontroller.k8s.io,resources=foos/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager adds the controller to mgr.
func (c *FooReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("indexes (is the CRD applied?): %w", err)
	}
	// If the resourceVersion is the same, this is a resync and not a change. The resync of the Foos
	// is enough.
	changed := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&samplecontrollerv1alpha1.Foo{}).
		Owns(&appsv1.Deployment{}, changed). // enqueues the Foo that controls it
		Watches(&appsv1.Deployment{}, handler.EnqueueRequestsFromMapFunc(c.findFoosForDeployment), changed).
		Complete(c)
}

// findFoosForDeployment returns the Foos that ask for the Deployment's name, which may be free now.
func (c *FooReconciler) findFoosForDeployment(ctx context.Context, deployment client.Object) (requests []ctrl.Request) {
	foos, err := c.listFoos(ctx, deployment.GetNamespace(), deployment.GetName())
	if err != nil {
		klog.ErrorS(err, "Lost an event: the index can't be read", "deployment", klog.KObj(deployment))
	}
	for i := range foos {
		requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&foos[i])})
	}
	return requests
}

// Reconcile is called with each key from the queue. Its result decides whether the key is retried.
// In chapters 03 and 04, the worker decided that.
func (c *FooReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	err := c.syncHandler(ctx, req.NamespacedName)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		// The cache was behind. This happens in every controller, so don't return it as an error,
		// which controller-runtime would log. Usually, the other write's event comes first.
		klog.FromContext(ctx).V(2).Info("Conflict, retrying", "err", err)
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}
