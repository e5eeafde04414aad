// This chapter's limit: a failed write isn't retried until another event or a resync. Chapter 03
// fixes that. Chapter 01 has the other tests of it.

package main

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

const resyncPeriod = 10 * time.Minute

// The sleeps are in the bubble's time, so they take none. A controller starts two seconds before
// them, so no resync is at the same instant as the end of a sleep.

// A resync calls the handlers for all cached objects, so it retries a lost event. A handler that is
// added to a running informer misses the first resync.
func TestAResyncRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, resyncPeriod, aFoo("example", "web", 3))
		var attempts atomic.Int32
		c.fakeKube.PrependReactor("create", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
			return attempts.Add(1) <= 2, nil, errors.New("the disk is full")
		})
		defer c.start()()

		time.Sleep(2*resyncPeriod - time.Minute)
		synctest.Wait()
		// The status says that the first attempt failed, and its event causes the second one.
		if got, want := c.state(), "example is Failed"; got != want || attempts.Load() != 2 {
			t.Errorf("before a resync, there were %d attempts and %q, want 2 and %q", attempts.Load(), got, want)
		}

		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got, want := c.state(), "example is Progressing, web has 3 replicas"; got != want {
			t.Errorf("after a resync, got the state %q, want %q", got, want)
		}
	})
}

// A resync syncs each Foo once, and not a second time for its Deployment.
func TestAResyncSyncsEachFooOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foo := aFoo("example", "web", 3)
		c := newCluster(t, resyncPeriod, foo, deploymentOf(foo, available(3)))
		var syncs atomic.Int32
		c.fakeFoos.PrependReactor("update", "foos/status", func(clienttesting.Action) (bool, runtime.Object, error) {
			syncs.Add(1)
			return true, nil, errors.New("the disk is full") // so that the next sync sends it again
		})
		defer c.start()()

		time.Sleep(resyncPeriod)
		synctest.Wait()
		atStart := syncs.Load() // one for the Foo, and one for its Deployment
		time.Sleep(resyncPeriod)
		synctest.Wait()
		if got := syncs.Load() - atStart; got != 1 {
			t.Errorf("one resync has synced the Foo %d times, want 1", got)
		}
	})
}
