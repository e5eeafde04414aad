// This chapter's limit: a write that failed is not sent again until something else happens, or a
// resync comes. Chapter 03 fixes that. What chapter 01 tests is the same here.

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

// A resync calls the handlers with everything in the cache, so it retries what was lost. A handler
// that was added to a running informer misses the first one.
func TestAResyncRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 10 * time.Minute
		c := newResyncingCluster(t, every, aFoo("example", "web", 3))
		c.refuseNext("create", "deployments", apierrors.NewInternalError(errors.New("the disk is full")))
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

// A resync looks at each Foo once, not once more for its Deployment.
func TestAResyncLooksAtEachFooOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 10 * time.Minute
		foo := aFoo("example", "web", 3)
		c := newResyncingCluster(t, every, foo, deploymentOf(foo, available(3)))
		var looks atomic.Int32
		c.fakeFoos.onUpdate = func(context.Context, *samplecontrollerv1alpha1.Foo) error {
			looks.Add(1)
			return apierrors.NewInternalError(errors.New("the disk is full"))
		}
		stop := c.start()
		defer stop()

		time.Sleep(every)
		atStart := looks.Load() // for the Foo, and for its Deployment
		time.Sleep(every)
		synctest.Wait()
		if got := looks.Load() - atStart; got != 1 {
			t.Errorf("%d looks at the Foo by one resync, want 1", got)
		}
	})
}
