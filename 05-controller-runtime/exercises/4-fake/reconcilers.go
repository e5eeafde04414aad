// The reconcilers that you judge: three that are right, and eight that each do one thing wrong, as
// real programs have done. You don't need to change anything here.

package judge

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Build returns a reconciler that reads and writes with api.
type Build func(api client.Client) reconcile.Reconciler

// reconciler gives Foos their Deployments. Its fields are what the reconcilers below do
// differently.
type reconciler struct {
	client.Client
	getFailed     func(error) error // what Reconcile returns if it can't read the Foo
	createFailed  func(error) error // what it returns if it can't create the Deployment
	isTerminating func(*samplecontrollerv1alpha1.Foo) bool
	sameReplicas  func(observed, desired int32) bool
	sameStatus    func(observed, desired samplecontrollerv1alpha1.FooStatus) bool
	writeStatus   func(context.Context, *samplecontrollerv1alpha1.Foo) error
	allAtOnce     bool // it goes on after a write to the Deployment, without waiting for the event
}

func (r *reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := r.Get(ctx, key.NamespacedName, foo); err != nil {
		return ctrl.Result{}, r.getFailed(err)
	}
	if r.isTerminating(foo) {
		return ctrl.Result{}, nil
	}
	deployment, written, err := r.syncDeployment(ctx, foo)
	if err != nil || written && !r.allAtOnce {
		return ctrl.Result{}, err
	}
	status := samplecontrollerv1alpha1.FooStatus{ObservedGeneration: foo.Generation, AvailableReplicas: deployment.Status.AvailableReplicas}
	if r.sameStatus(foo.Status, status) {
		return ctrl.Result{}, nil
	}
	foo.Status = status
	return ctrl.Result{}, r.writeStatus(ctx, foo)
}

// syncDeployment returns foo's Deployment, and whether it has just created or changed it.
func (r *reconciler) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (deployment *appsv1.Deployment, written bool, err error) {
	deployment = &appsv1.Deployment{}
	err = r.Get(ctx, client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, deployment)
	switch {
	case apierrors.IsNotFound(err):
		deployment = desiredDeployment(foo)
		if err := r.Create(ctx, deployment); err != nil {
			return deployment, true, r.createFailed(fmt.Errorf("create Deployment: %w", err))
		}
		return deployment, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("get Deployment: %w", err)
	case r.sameReplicas(ptr.Deref(deployment.Spec.Replicas, 1), *foo.Spec.Replicas):
		return deployment, false, nil
	}
	deployment.Spec.Replicas = foo.Spec.Replicas
	return deployment, true, r.Update(ctx, deployment)
}

func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	controller := *metav1.NewControllerRef(foo, schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithKind("Foo"))
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: foo.Namespace, Name: foo.Spec.DeploymentName, OwnerReferences: []metav1.OwnerReference{controller},
		},
		Spec: appsv1.DeploymentSpec{Replicas: foo.Spec.Replicas},
	}
}

// newReconciler returns a reconciler that is right.
func newReconciler(api client.Client) *reconciler {
	return &reconciler{
		Client:        api,
		getFailed:     client.IgnoreNotFound,
		createFailed:  func(err error) error { return err },
		isTerminating: func(foo *samplecontrollerv1alpha1.Foo) bool { return !foo.DeletionTimestamp.IsZero() },
		sameReplicas:  func(observed, desired int32) bool { return observed == desired },
		sameStatus: func(observed, desired samplecontrollerv1alpha1.FooStatus) bool {
			return observed.ObservedGeneration == desired.ObservedGeneration && observed.AvailableReplicas == desired.AvailableReplicas
		},
		writeStatus: func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
			return api.Status().Update(ctx, foo)
		},
	}
}

// right returns after a write to the Deployment, because the event of that write enqueues the Foo
// again. So do all others, except rightAtOnce.
func right(api client.Client) reconcile.Reconciler { return newReconciler(api) }

// rightAtOnce does everything in one call, and starts over by itself after a conflict.
func rightAtOnce(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.allAtOnce = true
	return reconcile.Func(func(ctx context.Context, key ctrl.Request) (result ctrl.Result, err error) {
		for range 3 {
			if result, err = r.Reconcile(ctx, key); !apierrors.IsConflict(err) {
				break
			}
		}
		return result, err
	})
}

// rightLater doesn't treat a conflict as a failure, and asks to be called again a second later.
func rightLater(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	return reconcile.Func(func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
		result, err := r.Reconcile(ctx, key)
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return result, err
	})
}

// updatesTheObject writes the status with an Update of the whole object. If the kind has a status
// subresource, the server ignores the status there.
func updatesTheObject(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.writeStatus = func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error { return api.Update(ctx, foo) }
	return r
}

// overwritesTheSpec writes the whole Foo, then the status. After a conflict, it takes over the
// latest resourceVersion, but keeps everything else that it read before.
func overwritesTheSpec(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.writeStatus = func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (err error) {
		for range 3 {
			latest := &samplecontrollerv1alpha1.Foo{}
			if err := api.Get(ctx, client.ObjectKeyFromObject(foo), latest); err != nil {
				return err
			}
			updated := foo.DeepCopy()
			updated.ResourceVersion = latest.ResourceVersion
			if err = api.Update(ctx, updated); err == nil {
				updated.Status = foo.Status
				err = api.Status().Update(ctx, updated)
			}
			if !apierrors.IsConflict(err) {
				break
			}
		}
		return err
	}
	return r
}

// swallowsConflicts assumes that the other write causes an event. But a predicate may filter that
// event out.
func swallowsConflicts(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.writeStatus = func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
		if err := api.Status().Update(ctx, foo); !apierrors.IsConflict(err) {
			return err
		}
		return nil
	}
	return r
}

// swallowsErrors only logs that it couldn't create the Deployment.
func swallowsErrors(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.createFailed = func(err error) error {
		ctrl.Log.Error(err, "Something went wrong")
		return nil
	}
	return r
}

// writesEachTime writes the status even if it is up to date.
func writesEachTime(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.sameStatus = func(_, _ samplecontrollerv1alpha1.FooStatus) bool { return false }
	return r
}

// ignoresScaling creates the Deployment, and never changes it.
func ignoresScaling(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.sameReplicas = func(_, _ int32) bool { return true }
	return r
}

// ignoresDeletion doesn't look at the deletionTimestamp.
func ignoresDeletion(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.isTerminating = func(*samplecontrollerv1alpha1.Foo) bool { return false }
	return r
}

// ignoresNotFound treats a Foo that is gone like one that can't be read.
func ignoresNotFound(api client.Client) reconcile.Reconciler {
	r := newReconciler(api)
	r.getFailed = func(err error) error { return err }
	return r
}
