// The controller on a whole cluster: what envtest can't show. Real Pods' numbers, and real garbage collection. (The behaviour contract in
// scripts/acceptance asks for much more, of the program as it is built. This is for whoever has copied the chapter's folder away.)

package main

import (
	"testing"
)

func TestIntegrationLifeOfAFoo(t *testing.T) {
	for reads, change := range waysToRead {
		t.Run(reads, func(t *testing.T) {
			c := newRealCluster(t)
			c.start(change)

			foo := c.create(example)
			c.eventually("a new Foo becomes ready", c.isReady(2))

			c.change(`{"replicas":3}`)
			c.eventually("a scaled Foo becomes ready", c.isReady(3))

			c.changeByHand("web", `{"spec":{"replicas":1}}`)
			c.eventually("a Deployment that was scaled by hand is put back", c.hasReplicas("web", 3))

			c.change(`{"deploymentName":"new"}`)
			c.eventually("the old Deployment is gone once the Foo is renamed", c.isGone("web"))
			c.eventually("and the new one is there", c.isReady(3))

			must(t, c.users.Delete(t.Context(), foo))
			c.eventually("the garbage collector deletes the Deployment", c.isGone("new"))
		})
	}
}
