// This chapter's limit: a failed write isn't retried until another event or a resync. Chapter 03
// fixes that. Chapter 01 has the other tests of it.

package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// A resync calls the handlers for all cached objects, so it retries a lost event. A handler that is
// added to a running informer misses the first resync.
func TestAResyncRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 10 * time.Minute
		c := newResyncingCluster(t, every, aFoo("example", "web", 3))
		for range 2 { // the status says that the first attempt failed, and its event causes the second one
			c.refuseNext("create", "deployments", apierrors.NewInternalError(errors.New("the disk is full")))
		}
		stop := c.start()
		defer stop()

		time.Sleep(2*every - time.Minute)
		if got := c.deployments(); len(got) != 0 {
			t.Errorf("Deployments before a resync: %q, want none", got)
		}

		time.Sleep(2 * time.Minute)
		if diff := cmp.Diff([]string{"web: 3 × nginx:latest"}, c.deployments()); diff != "" {
			t.Errorf("Deployments after a resync (-want +got):\n%s", diff)
		}
	})
}

// A resync syncs each Foo once, and not a second time for its Deployment.
func TestAResyncSyncsEachFooOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 10 * time.Minute
		foo := aFoo("example", "web", 3)
		c := newResyncingCluster(t, every, foo, deploymentOf(foo, available(3)))
		var syncs atomic.Int32
		c.fakeFoos.onUpdate = func(context.Context, *samplecontrollerv1alpha1.Foo) error {
			syncs.Add(1)
			return apierrors.NewInternalError(errors.New("the disk is full"))
		}
		stop := c.start()
		defer stop()

		time.Sleep(every)
		atStart := syncs.Load() // one for the Foo, and one for its Deployment
		time.Sleep(every)
		synctest.Wait()
		if got := syncs.Load() - atStart; got != 1 {
			t.Errorf("one resync has synced the Foo %d times, want 1", got)
		}
	})
}
