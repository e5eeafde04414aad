// Jumps of the clock. RequeueAfter is a timer, and timers don't follow the wall clock. When the
// machine wakes up, or somebody corrects its clock, every pending timer is off by the size of the
// jump. So this file looks for jumps and enqueues every TDSet after one.

package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

const (
	clockInterval = time.Second            // a jump is noticed at most this late
	smallestJump  = 250 * time.Millisecond // less is NTP, which slows the clock down or speeds it up
)

// readDrift returns a function that reads both clocks of this machine: the wall clock, which can be
// set, and the monotonic clock, which can't. It returns how far the wall clock has got ahead since.
func readDrift() func() time.Duration {
	start := time.Now()
	return func() time.Duration {
		now := time.Now() // has both readings, and Round(0) drops the monotonic one
		return now.Round(0).Sub(start.Round(0)) - now.Sub(start)
	}
}

// watchClock returns a source of events, as source.Func takes it. Until ctx ends, it enqueues every
// TDSet whenever the drift changes: then the wall clock was set, or the machine slept.
func (r *TDSetReconciler) watchClock(drift func() time.Duration) func(context.Context, queue) error {
	return func(ctx context.Context, queue queue) error {
		last := drift()
		go wait.UntilWithContext(ctx, func(ctx context.Context) {
			// last stays as it is until a jump, so that many small steps add up to one.
			if now := drift(); (now - last).Abs() > smallestJump {
				ctrl.LoggerFrom(ctx).Info("The clock has jumped: enqueueing every TDSet", "by", now-last)
				r.enqueueAll(ctx, queue)
				last = now
			}
		}, clockInterval)
		return nil
	}
}

// enqueueAll enqueues every TDSet in the cache.
func (r *TDSetReconciler) enqueueAll(ctx context.Context, queue queue) {
	var tdsets schedulev2.TDSetList
	if err := r.List(ctx, &tdsets); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Lost a jump of the clock: timers may fire late")
	}
	for i := range tdsets.Items {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&tdsets.Items[i])})
	}
}
