//go:build solution

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
	defer c.queue.Done(key)

	next, err := c.syncHandler(ctx, key)
	if err != nil {
		logFailure(ctx, key, err)
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	if !next.IsZero() {
		// Nothing can cancel this, and nothing has to. If the schedule changes, or the TDSet is
		// deleted, the key is still queued at this time. Then syncHandler finds nothing to do, and
		// returns the next time. If a key has several times, the queue keeps the earliest.
		c.queue.AddAfter(key, next.Sub(c.clock.Now()))
	}
	return true
}
