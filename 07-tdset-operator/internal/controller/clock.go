// The clock. Time is an input of this controller, like the objects in the cluster: whoever starts it says which clock it goes by.

package controller

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"k8s.io/client-go/util/workqueue"

	v1 "example.com/operators/07-tdset-operator/api/v1"
)

// Clock tells the time that schedules go by.
type Clock interface {
	// Now returns the time.
	Now() time.Time
	// Until returns how long it takes until instant, as a timer counts: zero or less if it has passed.
	Until(instant time.Time) time.Duration
}

// RealClock is this machine's clock.
type RealClock struct{}

// Now returns the time that the wall clock shows. A time.Time of Go has a second reading, of a clock that is never set, and
// prefers it for differences. Schedules go by the wall clock alone, so it is dropped (Round(0)).
func (RealClock) Now() time.Time { return time.Now().Round(0) }

// Until returns how long it takes until the wall clock shows instant, if nobody sets it.
func (RealClock) Until(instant time.Time) time.Duration { return instant.Sub(time.Now().Round(0)) }

const (
	lookAtClock = time.Second            // so late at most is a jump noticed
	leastJump   = 250 * time.Millisecond // less than that is the network's time being followed (NTP slews)
)

// reading is what this machine's two clocks show: the one that can be set, and the one that can't.
type reading struct {
	wall      time.Time
	monotonic time.Duration
}

// readClocks returns a function that reads both.
func readClocks() func() reading {
	start := time.Now()
	return func() reading {
		now := time.Now()
		return reading{wall: now.Round(0), monotonic: now.Sub(start)}
	}
}

// jumped tells whether the wall clock was set between two readings, or the machine slept.
func jumped(before, now reading) bool {
	return (now.wall.Sub(before.wall) - (now.monotonic - before.monotonic)).Abs() > leastJump
}

// watchClock enqueues every TDSet whenever the wall clock jumps. RequeueAfter is a timer, and timers don't go by the wall clock: when
// a machine wakes up, or its clock is put right, each of them would fire too late by as much. It runs until ctx ends.
func (r *TDSetReconciler) watchClock(read func() reading) func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	return func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go func() {
			ticker := time.NewTicker(lookAtClock)
			defer ticker.Stop()
			for last := read(); ; {
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
				}
				now := read()
				if jumped(last, now) {
					ctrl.LoggerFrom(ctx).Info("The clock has jumped: looking at every TDSet", "from", last.wall.Add(now.monotonic-last.monotonic), "to", now.wall)
					r.enqueueAll(ctx, queue)
					last = now // not before: less than a jump, again and again, adds up to one
				}
			}
		}()
		return nil
	}
}

// enqueueAll enqueues every TDSet in the cache.
func (r *TDSetReconciler) enqueueAll(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	var tdsets v1.TDSetList
	if err := r.List(ctx, &tdsets); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Lost a jump of the clock: timers may fire late")
	}
	for i := range tdsets.Items {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&tdsets.Items[i])})
	}
}
