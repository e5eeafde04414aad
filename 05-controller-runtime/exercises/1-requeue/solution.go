//go:build solution

// Package requeue is about what Reconcile returns, and when it is called again.
package requeue

import (
	"cmp"
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

// Reconcile claims the name in the Foo's spec (deploymentName) for the Foo's UID, and writes the
// state of that claim into the Foo's condition Ready. It asks the registry once, and doesn't wait
// for it.
//
// When Reconcile must be called again:
//   - If the registry is still working on it: when the registry will know more, or after pollEvery
//     if it can't say when.
//   - If somebody else has the name: after pollEvery. Nothing has failed, but nobody will tell us
//     when they give it back.
//   - If the name is the Foo's: at the next event. There is nothing left to do.
//   - If the registry will never give out the name: at the next event. Only a change to the spec
//     can help.
//   - If the registry doesn't answer, or the API server fails: after a backoff. Somebody should
//     hear about it, so return an error. Without an answer, Ready stays as it is.
//   - If the Foo is gone or being deleted: at the next event, if there is one. The registry isn't
//     asked.
//
// If there is an error, the result is empty.
func (r *Reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := r.Get(ctx, key.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	name := foo.Spec.DeploymentName
	claim, err := r.Registry.Claim(ctx, name, foo.UID)
	if errors.Is(err, ErrRefused) {
		// A retry can't help, so this isn't returned as an error. It concerns the Foo's user, who
		// looks at the status. If it concerned the people who run the operator, who look at logs
		// and metrics, a reconcile.TerminalError would tell them.
		return ctrl.Result{}, r.setReady(ctx, foo, reasonRefused)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("claim %q: %w", name, err)
	}
	if err := r.setReady(ctx, foo, string(claim.State)); err != nil {
		return ctrl.Result{}, err
	}
	switch claim.State {
	case Pending:
		// RequeueAfter: 0 would mean none at all, so Reconcile wouldn't be called again.
		return ctrl.Result{RequeueAfter: cmp.Or(claim.KnowsMoreIn, pollEvery)}, nil
	case Taken:
		return ctrl.Result{RequeueAfter: pollEvery}, nil
	default:
		return ctrl.Result{}, nil
	}
}
