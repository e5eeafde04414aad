// Exhibits about time: what an hour is, and when one looks again.

package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// The error ends in a log. Reconcile returns none, so nobody tries again before the interval is
// over.
func losesAnInterval(t *testing.T) {
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev1.TDSet) (ctrl.Result, error) {
		if _, err := makeAndScale(ctx, c, tdset); err != nil {
			ctrl.LoggerFrom(ctx).Info("The Deployment couldn't be updated", "reason", err.Error())
		}
		return ctrl.Result{RequeueAfter: time.Duration(tdset.Spec.IntervalMint) * time.Minute}, nil
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(known, lookingEvery(30)))
		start := c.beginAt("UTC", "2026-01-15 08:00:00")
		c.run(reconciler)
		c.waitUntil(start.Add(59 * time.Minute))
		c.refuseNext("update deployments", errConflict)
		c.refuseNext("apply deployments", errConflict)
		c.waitUntil(start.Add(2 * time.Hour))
		return "5 replicas are wanted from 09:00:00 on: " + strings.Join(c.scaled, ", ")
	}
	show(t, wrong, story,
		"5 replicas are wanted from 09:00:00 on: 08:00:00 UTC: 2, 09:30:00 UTC: 5",
		"5 replicas are wanted from 09:00:00 on: 08:00:00 UTC: 2, 09:00:01 UTC: 5")
}

// A window is compared as if all began and ended on one day, and no end were after 23. So one that
// ends at midnight ends before it begins, and none has the hour 23.
func losesTheNight(t *testing.T) {
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev1.TDSet) (ctrl.Result, error) {
		hour, always := int32(c.Clock.Now().Hour()), tdset.DeepCopy()
		always.Spec.SchedulingConfig = nil
		for _, window := range tdset.Spec.SchedulingConfig {
			if hour >= window.StartTime && hour < window.EndTime {
				always.Spec.DefaultReplica = window.Replica
				break
			}
		}
		return makeAndScale(ctx, c, always)
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(with(schedulev1.Scheduling{StartTime: 19, EndTime: 0, Replica: 5}, schedulev1.Scheduling{StartTime: 7, EndTime: 19, Replica: 3})))
		var seen []string
		for _, hour := range []int{18, 19, 22, 23, 24} {
			c.clock.now = at(hour, 30)
			must(t, c.look(reconciler))
			seen = append(seen, fmt.Sprintf("%s: %d", c.clock.now.Format("15:04"), replicasOf(c.deployment())))
		}
		return "from 19 to 0, 5 replicas are wanted: " + strings.Join(seen, ", ")
	}
	show(t, wrong, story,
		"from 19 to 0, 5 replicas are wanted: 18:30: 3, 19:30: 2, 22:30: 2, 23:30: 2, 00:30: 2",
		"from 19 to 0, 5 replicas are wanted: 18:30: 3, 19:30: 5, 22:30: 5, 23:30: 5, 00:30: 2")
}

// The time to look again is an interval, which may be as long as a day, and nobody asks the
// schedule. Here it is 23 hours.
func comesLate(t *testing.T) {
	wrong := func(ctx context.Context, c *cluster, tdset *schedulev1.TDSet) (ctrl.Result, error) {
		_, err := makeAndScale(ctx, c, tdset)
		return ctrl.Result{RequeueAfter: time.Duration(tdset.Spec.IntervalMint) * time.Minute}, err
	}
	story := func(c *cluster, reconciler reconcile.Reconciler) string {
		c.put(aTDSet(known, lookingEvery(23*60), with(schedulev1.Scheduling{StartTime: 9, EndTime: 8, Replica: 5})))
		start := c.beginAt("UTC", "2026-01-15 08:30:00")
		boundary := start.Add(30 * time.Minute)
		c.run(reconciler)
		c.waitUntil(start.Add(time.Minute))
		for replicasOf(c.deployment()) == 2 && c.Clock.Now().Before(start.AddDate(0, 0, 1)) {
			c.waitUntil(c.Clock.Now().Add(time.Minute))
		}
		return fmt.Sprintf("5 replicas are wanted from 09:00 on, and are there %v later", c.Clock.Now().Sub(boundary))
	}
	show(t, wrong, story,
		"5 replicas are wanted from 09:00 on, and are there 22h30m0s later",
		"5 replicas are wanted from 09:00 on, and are there 0s later")
}
