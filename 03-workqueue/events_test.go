// The whole controller, with its informers. Chapter 01 tests which Foos an event concerns.

package main

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// The whole controller: it lists and handles the existing objects, and then watches. In a
// testing/synctest bubble, time only passes when every goroutine waits, so a pause takes no time.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := aFoo("before", "web", 3)
		c := newCluster(t, before)
		stop := c.start()
		defer stop()

		c.eventually("a Foo that existed before the controller has its Deployment", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"}) && c.ready("before") == "Progressing"
		})
		c.put(deploymentOf(before, available(3)))
		c.eventually("the Foo becomes ready when its Deployment is available", func() bool { return c.ready("before") == "Available" })
		c.put(deploymentOf(before, available(3), scaledTo(1)))
		c.eventually("a change by hand is reverted", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.remove(deploymentOf(before))
		c.eventually("a Deployment that was deleted by hand is created again", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.put(aFoo("later", "db", 1))
		c.eventually("a Foo that was created later has its Deployment", func() bool {
			return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
		})
		c.remove(before)
		c.eventually("the controller leaves a deleted Foo's Deployment to the garbage collector", func() bool {
			return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
		})
	})
}
