//go:build solution

// Package worker is about what a worker owes to its queue.
package worker

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Controller has work to do for each key in Queue: SyncHandler does it.
type Controller struct {
	Queue       workqueue.TypedRateLimitingInterface[types.NamespacedName]
	SyncHandler func(ctx context.Context, key types.NamespacedName) error
}

// RunWorker works on one key after the other, until the queue is shut down and empty.
//
// A key whose work failed comes back, later after each failure, and is never given up: nobody else remembers it. Once it has
// succeeded, its failures are forgotten. Meanwhile the others don't wait for it. No two workers ever have the same key.
func (c *Controller) RunWorker(ctx context.Context) {
	for c.processNextWorkItem(ctx) {
	}
}

// processNextWorkItem waits for a key, works on it, and says whether there may be more.
func (c *Controller) processNextWorkItem(ctx context.Context) bool {
	key, shutdown := c.Queue.Get()
	if shutdown {
		return false
	}
	// 1. Each Get has its Done, however the work ends, and not before: until then the queue keeps the key from others.
	defer c.Queue.Done(key)

	// 2. A failure is about this key. The worker goes on with the others.
	if err := c.SyncHandler(ctx, key); err != nil {
		klog.ErrorS(err, "Trying again", "key", key, "failures", c.Queue.NumRequeues(key)+1)
		// 3. However often: what is dropped here stays undone until somebody happens to change the object. The limiter's
		// longest pause keeps a hopeless key cheap.
		c.Queue.AddRateLimited(key)
		return true
	}

	// 4. The limiter counts failures until it is told to forget them.
	c.Queue.Forget(key)
	return true
}
