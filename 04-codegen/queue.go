// The queue between events and work. What waits in it are keys, not events: a key stands in it once, however many events
// it stands for, and no key is worked on by two workers at a time. A key whose work failed comes back, later each time.

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
	shortestBackoff = 5 * time.Millisecond // after the first failure; doubled by each further one
	longestBackoff  = time.Minute
	shutdownTimeout = 20 * time.Second // how long work that is under way may take once the program is told to stop
)

// newQueue returns the queue. Its limiter slows down failing keys, each by itself. client-go's default has a limit for all of them
// together besides (10 a second); here there is none, since the API server protects itself.
func newQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](shortestBackoff, longestBackoff),
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: "foos"})
}

// runWorkers runs so many workers until ctx ends, then lets them finish what is in the queue, within bounds. When leading ends
// (and ctx with it: lead sees to that), they stop at once: another copy may be at work already.
func (c *controller) runWorkers(ctx, leading context.Context, workers int) {
	work, stop := context.WithCancel(leading)
	defer stop()
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { c.runWorker(work) })
	}
	<-ctx.Done()
	timeout := time.AfterFunc(shutdownTimeout, stop)
	defer timeout.Stop()
	c.queue.ShutDown()
	running.Wait()
}

// runWorker works on one key after the other until the queue is shut down and empty, or ctx ends.
func (c *controller) runWorker(ctx context.Context) {
	for ctx.Err() == nil && c.processNextWorkItem(ctx) {
	}
}

// processNextWorkItem waits for a key, works on it, and says whether there may be more.
func (c *controller) processNextWorkItem(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	// Until Done, the same key may be added but isn't given to another worker.
	defer c.queue.Done(key)

	err := c.syncHandler(ctx, key)
	switch {
	case err == nil:
		// Forget the failures that there were, so that the next one begins with the shortest backoff.
		c.queue.Forget(key)
		return true
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		klog.V(2).InfoS("Someone else wrote first, trying again", "foo", key, "err", err)
	case ctx.Err() == nil:
		klog.ErrorS(err, "Trying again", "foo", key, "failures", c.queue.NumRequeues(key)+1)
	}
	c.queue.AddRateLimited(key)
	return true
}
