// The whole controller on its informers. Which Foos an event concerns is tested in chapter 01.

package main

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// The whole: what was there is listed and acted on, and what comes then is watched. Inside a bubble
// of testing/synctest time passes when every goroutine waits for it, so a pause takes no time.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := aFoo("before", "web", 3)
		c := newCluster(t, before)
		stop := c.start()
		defer stop()

		c.eventually("a Foo that was there before the controller has its Deployment", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"}) && c.ready("before") == "Progressing"
		})
		c.put(deploymentOf(before, available(3)))
		c.eventually("the Foo is ready when its Deployment is", func() bool { return c.ready("before") == "Available" })
		c.put(deploymentOf(before, available(3), scaledTo(1)))
		c.eventually("a change by hand is reverted", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.remove(deploymentOf(before))
		c.eventually("what was deleted by hand is created again", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.put(aFoo("later", "db", 1))
		c.eventually("a Foo that came later has its Deployment", func() bool {
			return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
		})
		c.remove(before)
		c.eventually("a deleted Foo's Deployment is left to the garbage collector", func() bool {
			return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
		})
	})
}
