// The whole controller, with its informers. Chapter 01 tests which Foos an event concerns.

package main

import (
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// It lists and handles the existing objects, and then watches.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := aFoo("before", "web", 3)
		c := newCluster(t, 0, before)
		defer c.start()()
		for _, step := range []struct {
			sentence string
			do       func()
			want     string
		}{
			{
				"a Foo that existed before the controller gets its Deployment",
				func() {}, "before is Progressing, web has 3 replicas",
			},
			{
				"the Foo is ready when its Deployment is",
				func() { c.put(deploymentOf(before, available(3))) }, "before is Available, web has 3 replicas",
			},
			{
				"a change by hand is reverted",
				func() { c.put(deploymentOf(before, available(3), scaledTo(1))) }, "before is Progressing, web has 3 replicas",
			},
			{
				"a Deployment that was deleted by hand is created again",
				func() { c.remove(deploymentOf(before)) }, "before is Progressing, web has 3 replicas",
			},
			{
				"a Foo that is created later gets its Deployment",
				func() { c.put(aFoo("later", "db", 1)) }, "before is Progressing, db has 1 replicas, later is Progressing, web has 3 replicas",
			},
			{
				"a deleted Foo's Deployment is left to the garbage collector",
				func() { c.remove(before) }, "db has 1 replicas, later is Progressing, web has 3 replicas",
			},
		} {
			step.do()
			c.settle()
			if got := c.state(); got != step.want {
				t.Fatalf("%s: got the state %q, want %q", step.sentence, got, step.want)
			}
		}
	})
}

// Each handler runs in a goroutine of its own, and all of them sync the same Foos. Only one may work
// at a time.
func TestHandlersWorkOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foo := aFoo("example", "web", 3)
		c := newCluster(t, 0, foo, deploymentOf(foo))
		updates := 0
		c.fakeFoos.PrependReactor("update", "foos/status", func(clienttesting.Action) (bool, runtime.Object, error) {
			updates++
			if c.working.TryLock() {
				t.Error("handle doesn't hold the lock during an update, so another handler could work at the same time")
			}
			return true, foo, nil // and not stored, so the handler of the Deployment sends it, too
		})

		c.start()()

		if updates != 2 {
			t.Errorf("the status was written %d times, want 2: for the Foo, and for its Deployment", updates)
		}
	})
}
