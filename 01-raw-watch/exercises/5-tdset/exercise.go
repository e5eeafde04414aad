//go:build !solution

// Command 5-tdset is a controller for TDSets over plain HTTP: Deployments that are scaled by the time of day.
package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/01-raw-watch/wire"
)

// noWindow is the active window where there is none.
const noWindow = -1

// scheduleAt returns what spec asks for at an instant: how many replicas; by which of its windows, as an index into
// schedulingConfig, or noWindow; and the next instant at which another window is active, or none any more. That is the
// zero time if the same one is active at all times. Hours are hours of UTC.
func scheduleAt(spec TDSetSpec, instant time.Time) (replicas int32, window int, next time.Time) {
	// YOUR WORK, first part: windows. (The README has a table of them.)
	return spec.DefaultReplica, noWindow, time.Time{}
}

// run acts on events and on the time, until ctx ends.
func (c *controller) run(ctx context.Context) {
	var reflectors sync.WaitGroup
	defer reflectors.Wait()
	events := make(chan wire.Event)
	reflectors.Go(func() { c.tdsetReflector.Run(ctx, events) })
	reflectors.Go(func() { c.deploymentReflector.Run(ctx, events) })

	// YOUR WORK, second part: time. This loop only reacts to events. syncHandler returns the time at which a TDSet is due
	// again, and one timer (from c.clock) is enough for all of them. And what fails must be retried within a minute, but not
	// at once.
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			// A Deployment has the name of its TDSet: whatever this event is about, its key is that of the TDSet concerned.
			key := types.NamespacedName{Namespace: event.Object.Namespace, Name: event.Object.Name}
			if _, err := c.syncHandler(ctx, key); err != nil {
				logFailure(ctx, key, err)
			}
		}
	}
}
