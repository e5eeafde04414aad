//go:build !solution

// Command 5-tdset is a controller for TDSets on client-go's informers and workqueue. A TDSet asks
// for a Deployment that is scaled by the time of day.
package main

import "context"

// processNextWorkItem waits for a key, processes it, and reports whether there may be another one.
func (c *controller) processNextWorkItem(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	// YOUR WORK: tell the queue how the work on the key ended. After a failure, requeue the key.
	// Otherwise, add it for the time that syncHandler returns.
	if _, err := c.syncHandler(ctx, key); err != nil {
		logFailure(ctx, key, err)
	}
	return true
}
