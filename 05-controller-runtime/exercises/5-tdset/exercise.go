//go:build !solution

// Command 5-tdset is a controller for TDSets, built on controller-runtime. A TDSet asks for a
// Deployment that is scaled by the time of day.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1ac "example.com/operators/05-controller-runtime/exercises/5-tdset/pkg/generated/applyconfiguration/schedule/v1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = client.FieldOwner("tdset-controller")

// setUp adds the controller to mgr, and declares which events enqueue which TDSets.
func setUp(mgr ctrl.Manager, clock clock.PassiveClock) error {
	c := &controller{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("tdset-controller"), clock: clock}
	return ctrl.NewControllerManagedBy(mgr).
		For(&TDSet{}).
		// YOUR WORK: watch Deployments. Which of their events concern a TDSet? It doesn't matter
		// who owns the Deployment.
		WithOptions(controllerOptions()).
		Complete(c)
}

// Reconcile makes the cluster match what the TDSet with that key asks for at this time. Its result
// has the time at which it has to be called again, even if there is no event until then.
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	now := c.clock.Now()

	// 1. Read the TDSet. If it is gone or being deleted, the garbage collector deletes its
	// Deployment, so don't create one now.
	tdset := &TDSet{}
	if err := c.Get(ctx, req.NamespacedName, tdset); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !tdset.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// 2. Find out what it asks for at this time, and until when.
	replicas, window, next := scheduleAt(tdset.Spec, now)

	// YOUR WORK: from here on there are four returns, and only the last one asks for another call.
	// Which others have to?

	// 3. Create or update the Deployment. A write causes an event, and that event leads to step 4.
	deployment, err := c.syncDeployment(ctx, tdset, replicas)
	if err != nil || deployment == nil {
		return ctrl.Result{}, err
	}

	// 4. Update the status, but only if it has changed.
	status := desiredStatus(tdset, deployment, window, metav1.NewTime(now))
	if equality.Semantic.DeepEqual(tdset.Status, status) {
		return ctrl.Result{}, nil
	}
	ctrl.LoggerFrom(ctx).V(2).Info("Updating the status")
	if err := c.updateTDSetStatus(ctx, tdset, status); err != nil {
		return ctrl.Result{}, fmt.Errorf("update the status: %w", err)
	}
	c.recordEvent(tdset, status)
	return c.requeueAt(tdset, next), nil
}

// requeueAt returns the result with which Reconcile is called again at next, or never if next is
// the zero time. If intervalMint is set, Reconcile is called again after that many minutes at the
// latest.
func (c *controller) requeueAt(tdset *TDSet, next time.Time) ctrl.Result {
	// YOUR WORK: this means never. So does a RequeueAfter of 0 or less.
	return ctrl.Result{}
}

// createDeployment assumes that there is no Deployment with that name. If somebody has just created
// one, it stays as it is, and createDeployment returns an error.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	// YOUR WORK: send an apply.
	return errors.New("createDeployment sends nothing yet")
}

// updateDeployment takes over the fields that desired sets, no matter who changed them, so observed
// must be a Deployment that we control. If that Deployment is gone, or another one has its name,
// updateDeployment changes and creates nothing, and returns an error.
func (c *controller) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) error {
	// YOUR WORK: send another apply.
	return errors.New("updateDeployment sends nothing yet")
}

// updateTDSetStatus writes the status that statusToApply returns, no matter who wrote the fields
// before. If tdset isn't the latest version, so that its spec may have changed, updateTDSetStatus
// writes nothing, and returns an error.
func (c *controller) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	// YOUR WORK: this assumes nothing, and uses the wrong endpoint.
	desired := schedulev1ac.TDSet(tdset.Name, tdset.Namespace).WithStatus(statusToApply(status))
	return c.Apply(ctx, desired, fieldOwner)
}
