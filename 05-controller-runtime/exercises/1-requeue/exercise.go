//go:build !solution

// Package requeue is about what Reconcile returns, and when it comes again.
package requeue

import (
	"context"
	"errors"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Reconciler registers the names of Foos.
type Reconciler struct {
	client.Client
	Registry Registry
}

// Reconcile claims the name that a Foo's spec has (deploymentName) for that Foo's UID, and says in its condition Ready how
// that stands. It asks the registry once, and doesn't wait for it.
//
// When it comes again:
//   - The registry is working on it: when it will know more. If it can't say when, after pollEvery.
//   - Somebody else has the name: after pollEvery. Nothing has failed, but nobody will tell us when they give it back.
//   - The name is ours: when there is an event. All is done.
//   - The registry will never give out the name: when there is an event. Only another spec can fix that.
//   - The registry doesn't answer, or the API server fails: soon, and ever later. Somebody should hear of it, so it is an
//     error. No answer is no news: Ready stays as it is.
//   - The Foo is gone, or being deleted: when there is an event, if ever. The registry isn't asked.
//
// An error comes alone: beside it, nothing is returned.
func (r *Reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := r.Get(ctx, key.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// YOUR WORK: from here on, the requests and the writes are right, but the results are wrong.
	name := foo.Spec.DeploymentName
	claim, err := r.Registry.Claim(ctx, name, foo.UID)
	if errors.Is(err, ErrRefused) {
		if err := r.setReady(ctx, foo, reasonRefused); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, fmt.Errorf("claim %q: %w", name, err)
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "The registry doesn't answer", "name", name)
		return ctrl.Result{}, nil
	}
	if err := r.setReady(ctx, foo, string(claim.State)); err != nil {
		return ctrl.Result{RequeueAfter: pollEvery}, err
	}
	switch claim.State {
	case Pending:
		return ctrl.Result{}, fmt.Errorf("the registry is still working on %q", name)
	case Taken:
		return ctrl.Result{RequeueAfter: pollEvery}, fmt.Errorf("%q is somebody else's", name)
	default:
		return ctrl.Result{RequeueAfter: pollEvery}, nil
	}
}
