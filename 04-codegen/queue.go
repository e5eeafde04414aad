// The queue between events and work. It holds keys, not events. A key is in it only once, however
// many events there were, and two workers never process the same key at once. A key that fails is
// retried after a pause, which grows with each failure.

package main

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	shortestBackoff = 5 * time.Millisecond // after the first failure; each further failure doubles it
	longestBackoff  = time.Minute
	shutdownTimeout = 10 * time.Second // how long a shutdown waits for unfinished work
)

type queue = workqueue.TypedRateLimitingInterface[types.NamespacedName]

// newQueue returns a queue. Its rate limiter slows down each failing key separately. client-go's
// default also limits all keys together, to 10 retries a second. This controller doesn't need that,
// because the API server limits requests itself.
func newQueue() queue {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](shortestBackoff, longestBackoff))
}

// enqueue adds a Foo to the queue, for the workers.
func (c *controller) enqueue(ctx context.Context, key types.NamespacedName) {
	klog.FromContext(ctx).V(4).Info("Key queued", "foo", key)
	c.queue.Add(key)
}

// runWorkers starts workers. When ctx ends, they get up to shutdownTimeout to empty the queue.
func (c *controller) runWorkers(ctx context.Context, workers int) {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { c.runWorker(work) })
	}
	<-ctx.Done()
	time.AfterFunc(shutdownTimeout, stop)
	c.queue.ShutDown()
	running.Wait()
}

// runWorker processes keys until the queue is shut down and empty, or ctx ends.
func (c *controller) runWorker(ctx context.Context) {
	for ctx.Err() == nil && c.processNextWorkItem(ctx) {
	}
}

// processNextWorkItem waits for a key, processes it, and reports whether there may be another one.
func (c *controller) processNextWorkItem(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	// Until Done, the same key can be added again, but no other worker gets it.
	defer c.queue.Done(key)

	logger := klog.FromContext(ctx).WithValues("foo", key)
	logger.V(4).Info("Work started")
	err := c.syncHandler(klog.NewContext(ctx, logger), key)
	logger.V(4).Info("Work finished", "err", err)
	switch {
	case err == nil:
		// Forget earlier failures, so that the next one starts with the shortest backoff again.
		c.queue.Forget(key)
		return true
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		logger.V(2).Info("Conflict, retrying", "err", err)
	case ctx.Err() == nil:
		logger.Error(err, "Retrying", "failures", c.queue.NumRequeues(key)+1)
	}
	c.queue.AddRateLimited(key)
	return true
}
