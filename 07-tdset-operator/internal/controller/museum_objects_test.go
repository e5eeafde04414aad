// Exhibits about objects: their owners, their content and their status.

package controller

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// The operator looks up the Deployment by name, and doesn't check its owner.
func scalesAnotherOwnersDeployment(t *testing.T) {
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(), deploymentOf(aTDSet(), unowned, scaledTo(1)))
		must(t, c.reconcileAll(reconciler))
		return "somebody else's Deployment: " + c.objects()
	}
	show(t, createAndScale, story,
		"somebody else's Deployment: 5 × nginx:1.0",
		"somebody else's Deployment: 1 × nginx:1.0")
}

// createAndScale is such an operator's first version: it creates a missing Deployment, and scales
// an existing one.
func createAndScale(ctx context.Context, c *cluster, tdset *schedulev2.TDSet) (ctrl.Result, error) {
	state, err := stateAt(tdset, c.Clock.Now())
	if err != nil {
		return ctrl.Result{}, err
	}
	deployment := &appsv1.Deployment{}
	err = c.Get(ctx, client.ObjectKeyFromObject(tdset), deployment)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, c.Create(ctx, applied[appsv1.Deployment](desiredDeployment(tdset, state.Replicas)))
	}
	if err != nil || replicasOf(deployment) == state.Replicas {
		return ctrl.Result{}, err
	}
	deployment.Spec.Replicas = &state.Replicas
	return ctrl.Result{}, c.Update(ctx, deployment)
}

// The operator compares only the replicas.
func ignoresTheImage(t *testing.T) {
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet())
		must(t, c.reconcileAll(reconciler))
		c.change(func(spec *schedulev2.TDSetSpec) { spec.Container.Image = "nginx:2.0" })
		must(t, c.reconcileAll(reconciler))
		return "the TDSet asks for nginx:2.0, and got: " + c.objects()
	}
	show(t, createAndScale, story,
		"the TDSet asks for nginx:2.0, and got: 5 × nginx:1.0",
		"the TDSet asks for nginx:2.0, and got: 5 × nginx:2.0")
}

// The field is in the CRD, but no code reads it.
func createsNoService(t *testing.T) {
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(withService(80)))
		must(t, c.reconcileAll(reconciler))
		return "the TDSet asks for a Service at port 80, and got: " + c.objects()
	}
	show(t, createAndScale, story,
		"the TDSet asks for a Service at port 80, and got: 5 × nginx:1.0",
		"the TDSet asks for a Service at port 80, and got: 5 × nginx:1.0, 80 → 8080")
}

// The operator sets the condition in one place, always to the same value.
func neverUpdatesTheCondition(t *testing.T) {
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev2.TDSet) (ctrl.Result, error) {
		if result, err := createAndScale(ctx, c, tdset); err != nil {
			return result, err
		}
		meta.SetStatusCondition(&tdset.Status.Conditions, metav1.Condition{
			Type: conditionAvailable, Status: metav1.ConditionUnknown, Reason: "Reconciling", Message: "Starting",
		})
		return ctrl.Result{}, c.Status().Update(ctx, tdset)
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet())
		must(t, c.reconcileAll(reconciler))
		c.becomesAvailable(c.deployment())
		must(t, c.reconcileAll(reconciler))
		condition := meta.FindStatusCondition(c.tdset().Status.Conditions, conditionAvailable)
		return fmt.Sprintf("%d replicas are available, and the condition is Available=%s", c.deployment().Status.AvailableReplicas, condition.Status)
	}
	show(t, wrong, story,
		"5 replicas are available, and the condition is Available=Unknown",
		"5 replicas are available, and the condition is Available=True")
}

// The operator logs the error, and continues with a nil Deployment.
func ignoresAnError(t *testing.T) {
	build := func(c *cluster, tdset *schedulev2.TDSet) (*appsv1.Deployment, error) {
		state, err := stateAt(tdset, c.Clock.Now())
		if err != nil {
			return nil, err
		}
		return applied[appsv1.Deployment](desiredDeployment(tdset, state.Replicas)), nil
	}
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev2.TDSet) (ctrl.Result, error) {
		deployment, err := build(c, tdset)
		if err != nil {
			ctrl.LoggerFrom(ctx).Info("The Deployment couldn't be built", "reason", err.Error())
		}
		ctrl.LoggerFrom(ctx).Info("Creating the Deployment", "name", deployment.Name)
		return ctrl.Result{}, c.Create(ctx, deployment)
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(invalid))
		if err := c.reconcileAll(reconciler); err != nil {
			return err.Error()
		}
		return "Degraded, with the reason " + c.degraded()
	}
	show(t, wrong, story,
		"panic: runtime error: invalid memory address or nil pointer dereference",
		"Degraded, with the reason InvalidSchedule")
}

// After kubectl delete --cascade=foreground, the TDSet exists until the garbage collector has
// deleted its objects. An operator that creates them again keeps it forever.
func createsDuringDeletion(t *testing.T) {
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(withFinalizer(metav1.FinalizerDeleteDependents), beingDeleted))
		created := 0
		for range 3 {
			must(t, c.reconcileAll(reconciler))
			if deployment := c.deployment(); deployment.Name != "" {
				created++
				c.remove(deployment) // as the garbage collector does
			}
		}
		return fmt.Sprintf("after 3 rounds, the garbage collector has deleted %d Deployments", created)
	}
	show(t, createAndScale, story,
		"after 3 rounds, the garbage collector has deleted 3 Deployments",
		"after 3 rounds, the garbage collector has deleted 0 Deployments")
}
