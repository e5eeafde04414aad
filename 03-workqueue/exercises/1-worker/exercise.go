//go:build !solution

// Package worker processes the keys in a workqueue.
package worker

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Controller has a queue of keys, and a function that does the work for a key.
type Controller struct {
	Queue       workqueue.TypedRateLimitingInterface[types.NamespacedName]
	SyncHandler func(ctx context.Context, key types.NamespacedName) error
}

// RunWorker processes one key after another, until the queue is shut down and empty.
//
// If the work on a key fails, it is retried after a pause, which grows with each failure. The key
// is never dropped, because nobody else remembers it. Once it succeeds, its failures no longer
// count. Other keys don't wait for a failing one. Two workers never process the same key at once.
func (c *Controller) RunWorker(ctx context.Context) {
	for c.processNextWorkItem(ctx) {
	}
}

const maxRetries = 5

// processNextWorkItem waits for a key, processes it, and reports whether there may be another one.
func (c *Controller) processNextWorkItem(ctx context.Context) bool {
	key, shutdown := c.Queue.Get()
	if shutdown {
		return false
	}
	// YOUR WORK: the rest of this function breaks four of the promises above.
	if err := c.SyncHandler(ctx, key); err != nil {
		klog.ErrorS(err, "Sync failed", "key", key)
		if c.Queue.NumRequeues(key) < maxRetries {
			c.Queue.AddRateLimited(key)
		}
		return false
	}
	c.Queue.Done(key)
	return true
}
