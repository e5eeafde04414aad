// Exhibits about what there is: whose it is, what it runs, and what its status says.

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

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// The Deployment is found by its name, and nobody asks whose it is.
func scalesWhatIsNotIts(t *testing.T) {
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(), deploymentOf(aTDSet(), unowned, scaledTo(1)))
		must(t, c.look(reconciler))
		return "somebody else's Deployment: " + c.objects()
	}
	show(t, makeAndScale, story,
		"somebody else's Deployment: 5 × nginx:1.0",
		"somebody else's Deployment: 1 × nginx:1.0")
}

// makeAndScale is how such an operator begins: there is no Deployment, so it is made; there is one,
// so it is scaled.
func makeAndScale(ctx context.Context, c *cluster, tdset *schedulev1.TDSet) (ctrl.Result, error) {
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

// Only the replicas are compared.
func ignoresTheImage(t *testing.T) {
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet())
		must(t, c.look(reconciler))
		c.change(func(spec *schedulev1.TDSetSpec) { spec.Container.Image = "nginx:2.0" })
		must(t, c.look(reconciler))
		return "nginx:2.0 is asked for, and there is: " + c.objects()
	}
	show(t, makeAndScale, story,
		"nginx:2.0 is asked for, and there is: 5 × nginx:1.0",
		"nginx:2.0 is asked for, and there is: 5 × nginx:2.0")
}

// The field is in the CRD, and no code reads it.
func makesNoService(t *testing.T) {
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(withService(80)))
		must(t, c.look(reconciler))
		return "a Service at port 80 is asked for, and there is: " + c.objects()
	}
	show(t, makeAndScale, story,
		"a Service at port 80 is asked for, and there is: 5 × nginx:1.0",
		"a Service at port 80 is asked for, and there is: 5 × nginx:1.0, 80 → 8080")
}

// The condition is set in one place, to what it was when that was written.
func knowsNothing(t *testing.T) {
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev1.TDSet) (ctrl.Result, error) {
		if result, err := makeAndScale(ctx, c, tdset); err != nil {
			return result, err
		}
		meta.SetStatusCondition(&tdset.Status.Conditions, metav1.Condition{
			Type: conditionAvailable, Status: metav1.ConditionUnknown, Reason: "Reconciling", Message: "Starting",
		})
		return ctrl.Result{}, c.Status().Update(ctx, tdset)
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet())
		must(t, c.look(reconciler))
		c.becomesAvailable(c.deployment())
		must(t, c.look(reconciler))
		condition := meta.FindStatusCondition(c.tdset().Status.Conditions, conditionAvailable)
		return fmt.Sprintf("%d replicas are available, and it says Available=%s", c.deployment().Status.AvailableReplicas, condition.Status)
	}
	show(t, wrong, story,
		"5 replicas are available, and it says Available=Unknown",
		"5 replicas are available, and it says Available=True")
}

// The error is written down, and the work goes on with what there isn't.
func usesWhatIsNil(t *testing.T) {
	build := func(c *cluster, tdset *schedulev1.TDSet) (*appsv1.Deployment, error) {
		state, err := stateAt(tdset, c.Clock.Now())
		if err != nil {
			return nil, err
		}
		return applied[appsv1.Deployment](desiredDeployment(tdset, state.Replicas)), nil
	}
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev1.TDSet) (ctrl.Result, error) {
		deployment, err := build(c, tdset)
		if err != nil {
			ctrl.LoggerFrom(ctx).Info("The Deployment couldn't be built", "reason", err.Error())
		}
		ctrl.LoggerFrom(ctx).Info("Creating the Deployment", "name", deployment.Name)
		return ctrl.Result{}, c.Create(ctx, deployment)
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(invalid))
		if err := c.look(reconciler); err != nil {
			return err.Error()
		}
		return "Degraded, with the reason " + c.degraded()
	}
	show(t, wrong, story,
		"panic: runtime error: invalid memory address or nil pointer dereference",
		"Degraded, with the reason InvalidSchedule")
}

// kubectl delete --cascade=foreground keeps a TDSet until the garbage collector has taken what
// belongs to it. Who makes that again, keeps it.
func makesWhatIsGoing(t *testing.T) {
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(withFinalizer(metav1.FinalizerDeleteDependents), beingDeleted))
		made := 0
		for range 3 {
			must(t, c.look(reconciler))
			if deployment := c.deployment(); deployment != nil {
				made++
				c.remove(deployment) // the garbage collector does that
			}
		}
		return fmt.Sprintf("the garbage collector has looked 3 times, and deleted %d Deployments", made)
	}
	show(t, makeAndScale, story,
		"the garbage collector has looked 3 times, and deleted 3 Deployments",
		"the garbage collector has looked 3 times, and deleted 0 Deployments")
}
