// Exhibits about time: the hours of a window, and the time of the next call.

package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// The operator only logs the error. Reconcile returns none, so the next attempt comes after the
// interval.
func dropsAnError(t *testing.T) {
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev2.TDSet) (ctrl.Result, error) {
		if _, err := createAndScale(ctx, c, tdset); err != nil {
			ctrl.LoggerFrom(ctx).Info("The Deployment couldn't be updated", "reason", err.Error())
		}
		return ctrl.Result{RequeueAfter: time.Duration(tdset.Spec.IntervalMinutes) * time.Minute}, nil
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(known, withInterval(30)))
		start := c.beginAt("UTC", "2026-01-15 08:00:00")
		c.run(reconciler)
		c.waitUntil(start.Add(59 * time.Minute))
		c.refuseNext("update deployments", errConflict)
		c.refuseNext("apply deployments", errConflict)
		c.waitUntil(start.Add(2 * time.Hour))
		return "9:00 needs 5 replicas: " + strings.Join(c.scaled, ", ")
	}
	show(t, wrong, story,
		"9:00 needs 5 replicas: 08:00:00 UTC: 2, 09:30:00 UTC: 5",
		"9:00 needs 5 replicas: 08:00:00 UTC: 2, 09:00:01 UTC: 5")
}

// The operator compares the hours as if every window began and ended on the same day, with an end
// of at most 23. So a window up to midnight is never active, and no window can cover the hour 23.
func losesMidnight(t *testing.T) {
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev2.TDSet) (ctrl.Result, error) {
		now, always := c.Clock.Now().Format("15:04"), tdset.DeepCopy()
		always.Spec.Windows = nil
		for _, window := range tdset.Spec.Windows {
			if now >= window.Start && now < window.End {
				always.Spec.DefaultReplicas = window.Replicas
				break
			}
		}
		return createAndScale(ctx, c, always)
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(with(aWindow(19, 0, 5), aWindow(7, 19, 3))))
		var seen []string
		for _, hour := range []int{18, 19, 22, 23, 24} {
			c.clock.now = at(hour, 30)
			must(t, c.reconcileAll(reconciler))
			seen = append(seen, fmt.Sprintf("%s: %d", c.clock.now.Format("15:04"), replicasOf(c.deployment())))
		}
		return "19:00 to 0:00 needs 5 replicas: " + strings.Join(seen, ", ")
	}
	show(t, wrong, story,
		"19:00 to 0:00 needs 5 replicas: 18:30: 3, 19:30: 2, 22:30: 2, 23:30: 2, 00:30: 2",
		"19:00 to 0:00 needs 5 replicas: 18:30: 3, 19:30: 5, 22:30: 5, 23:30: 5, 00:30: 2")
}

// The next call comes after an interval of up to a day, here 23 hours, whatever the schedule says.
// The windows are those of config/samples. Each call is an hour earlier in the day than the one
// before, so of the calls at 8:30, 7:30, 6:30 and so on, only the seventeenth, at 16:30, is in the
// window that begins at 9:00.
func requeuesByInterval(t *testing.T) {
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev2.TDSet) (ctrl.Result, error) {
		_, err := createAndScale(ctx, c, tdset)
		return ctrl.Result{RequeueAfter: time.Duration(tdset.Spec.IntervalMinutes) * time.Minute}, err
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		sample := with(aWindow(9, 17, 5), aWindow(17, 19, 3), aWindow(19, 0, 2), aWindow(1, 7, 2), aWindow(7, 9, 3))
		c.put(aTDSet(known, withInterval(23*60), sample))
		c.clock.now = at(8, 30)
		for range 100 {
			c.informed()
			result, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: web})
			must(t, err)
			if replicasOf(c.deployment()) == 5 {
				break
			}
			c.clock.now = c.clock.now.Add(result.RequeueAfter)
		}
		return fmt.Sprintf("9:00 needs 5 replicas; they were requested %v later", c.clock.now.Sub(at(9, 0)))
	}
	show(t, wrong, story,
		"9:00 needs 5 replicas; they were requested 367h30m0s later",
		"9:00 needs 5 replicas; they were requested 0s later")
}
