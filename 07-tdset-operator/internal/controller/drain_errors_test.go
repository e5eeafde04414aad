// What is done about a drain that fails: it is tried again, and the TDSet isn't kept forever.

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

// None of them says that a Pod is left, nor that none is.
func TestADrainThatFails(t *testing.T) {
	tdset := aTDSet()
	for request, given := range map[string][]client.Object{
		"get deployments":      nil,
		"live get deployments": nil,
		"apply deployments":    {deploymentOf(tdset, withPods(5))},
		"list pods":            {deploymentOf(tdset, scaledTo(0), withPods(0))},
		"live list pods":       {deploymentOf(tdset, scaledTo(0), withPods(0))},
	} {
		t.Run(request, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, append(given, aTDSet(beingDeleted))...)

				// The error isn't returned: the queue's pauses may be longer than what is left of
				// the time.
				for _, err := range []error{errDiskFull, errConflict} {
					c.refuseNext(request, err)
					if result, err := c.sync(); err != nil || result != (ctrl.Result{RequeueAfter: conflictPause}) {
						t.Errorf("got %+v, %v, want that it is requeued soon", result, err)
					}
				}
				if c.tdset().Name == "" || len(c.recorded()) > 0 {
					t.Error("the TDSet was let go, and nobody knows whether it is drained")
				}

				time.Sleep(c.DrainTimeout)
				c.refuseNext(request, errDiskFull)
				_, err := c.sync()
				if must(t, err); c.tdset().Name != "" {
					t.Error("time is up, and the TDSet is still there")
				}
				if got := c.recorded(); len(got) != 1 || !strings.Contains(got[0], "DrainTimeout") {
					t.Errorf("users were told %q, want that time was up", got)
				}
			})
		})
	}
}

// With a queue and timers: what fails all the time keeps no TDSet longer than it may be kept.
func TestADrainThatAlwaysFails(t *testing.T) {
	for name, err := range map[string]error{"the server fails": errDiskFull, "the server refuses": errNotNow} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, aTDSet(beingDeleted), deploymentOf(aTDSet(), withPods(5)))
				c.DrainTimeout = 10 * time.Minute
				c.refuseAll("apply deployments", err)
				start := c.beginAt("UTC", "2026-01-15 12:00:00")
				c.run(c.TDSetReconciler)

				c.waitUntil(start.Add(c.DrainTimeout - time.Second))
				if c.tdset().Name == "" {
					t.Error("before the time is up, the TDSet is gone")
				}
				c.waitUntil(start.Add(c.DrainTimeout + time.Millisecond))
				if c.tdset().Name != "" {
					t.Error("time is up, and the TDSet is still there")
				}
			})
		})
	}
}

// The last write fails too: then it was not drained, as far as anybody knows.
func TestATDSetThatCannotBeLetGo(t *testing.T) {
	c := newCluster(t, aTDSet(beingDeleted))
	c.refuseNext("patch tdsets", errDiskFull)

	_, err := c.sync()

	if !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), "remove the finalizer: ") || len(c.recorded()) > 0 {
		t.Errorf("got the error %v", err)
	}
	if c.settle(); c.tdset().Name != "" {
		t.Error("after the next attempt, it is still there")
	}
}
