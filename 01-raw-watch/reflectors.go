// How the controller learns about changes. One Reflector follows the Foos, another follows the
// Deployments, and a single loop handles their events.

package main

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/watch"

	"example.com/operators/01-raw-watch/wire"
)

// controller creates a Deployment for each Foo and keeps it in the state that the Foo asks for.
type controller struct {
	client *wire.Client

	fooReflector        *wire.Reflector
	deploymentReflector *wire.Reflector
}

// newController returns a controller for the Foos in namespace; "" means all namespaces.
func newController(client *wire.Client, namespace string) *controller {
	return &controller{
		client:              client,
		fooReflector:        wire.NewReflector(client, foosPath(namespace)),
		deploymentReflector: wire.NewReflector(client, deploymentsPath(namespace)),
	}
}

// run handles events, one at a time, until ctx ends.
func (c *controller) run(ctx context.Context) {
	var reflectors sync.WaitGroup
	defer reflectors.Wait()
	foos, deployments := make(chan wire.Event), make(chan wire.Event)
	reflectors.Go(func() { c.fooReflector.Run(ctx, foos) })
	reflectors.Go(func() { c.deploymentReflector.Run(ctx, deployments) })
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-foos:
			if event.Type != watch.Deleted {
				c.handleFoo(ctx, &event.Object)
			}
		case event := <-deployments:
			c.handleObject(ctx, &event.Object)
		}
	}
}
