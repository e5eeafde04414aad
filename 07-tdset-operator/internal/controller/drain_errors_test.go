// Drains that fail: the controller retries them, but not longer than the timeout.

package controller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// None of these errors shows whether a Pod is left.
func TestADrainThatFails(t *testing.T) {
	tdset := aTDSet()
	for request, given := range map[string][]client.Object{
		"get deployments":          nil,
		"uncached get deployments": nil,
		"apply deployments":        {deploymentOf(tdset, withPods(5))},
		"list pods":                {deploymentOf(tdset, scaledTo(0), withPods(0))},
		"uncached list pods":       {deploymentOf(tdset, scaledTo(0), withPods(0))},
	} {
		t.Run(request, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, append(given, aTDSet(beingDeleted))...)

				// The error isn't returned: the queue's pauses may be longer than what is left of
				// the time.
				for _, err := range []error{errDiskFull, errConflict} {
					c.refuseNext(request, err)
					if result, err := c.sync(); err != nil || result != (ctrl.Result{RequeueAfter: conflictPause}) {
						t.Errorf("got %+v and the error %v, want a short RequeueAfter and no error", result, err)
					}
				}
				if c.tdset().Name == "" || len(c.recorded()) > 0 {
					t.Error("the finalizer was removed before the drain was confirmed")
				}

				time.Sleep(c.DrainTimeout)
				c.refuseNext(request, errDiskFull)
				_, err := c.sync()
				if must(t, err); c.tdset().Name != "" {
					t.Error("after the timeout, the TDSet still exists")
				}
				if got := c.recorded(); len(got) != 1 || !strings.Contains(got[0], "DrainTimeout") {
					t.Errorf("got the events %q, want DrainTimeout", got)
				}
			})
		})
	}
}

// With a queue and timers, a drain that always fails ends at the timeout.
func TestADrainThatAlwaysFails(t *testing.T) {
	for name, err := range map[string]error{"the API server fails": errDiskFull, "the API server refuses": errNotNow} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, aTDSet(beingDeleted), deploymentOf(aTDSet(), withPods(5)))
				c.DrainTimeout = 10 * time.Minute
				c.refuseAll("apply deployments", err)
				start := c.beginAt("UTC", "2026-01-15 12:00:00")
				c.run(c.TDSetReconciler)

				c.waitUntil(start.Add(c.DrainTimeout - time.Second))
				if c.tdset().Name == "" {
					t.Error("the TDSet is gone before the timeout")
				}
				c.waitUntil(start.Add(c.DrainTimeout + time.Millisecond))
				if c.tdset().Name != "" {
					t.Error("after the timeout, the TDSet still exists")
				}
			})
		})
	}
}

// If the removal of the finalizer fails, there is no event Drained yet.
func TestTheFinalizerCantBeRemoved(t *testing.T) {
	c := newCluster(t, aTDSet(beingDeleted))
	c.refuseNext("patch tdsets", errDiskFull)

	_, err := c.sync()

	if !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), "remove the finalizer: ") || len(c.recorded()) > 0 {
		t.Errorf("got the error %v", err)
	}
	if c.settle(); c.tdset().Name != "" {
		t.Error("after the next attempt, the TDSet still exists")
	}
}
