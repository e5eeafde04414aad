// Handlers, queue and workers, as in the solution of chapter 03's exercise.

package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const workers = 2

// run keeps the Deployments up to date until ctx ends.
func (c *controller) run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	defer c.queue.ShutDown()
	running.Go(func() { c.tdsetInformer.RunWithContext(ctx) })
	running.Go(func() { c.deploymentInformer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), c.tdsetInformer.HasSynced, c.deploymentInformer.HasSynced) {
		return
	}

	// Any change to a TDSet or a Deployment is a reason to call handle. So is a deletion, because a
	// deleted Deployment has to be created again. A deleted TDSet needs no work, but its key does no
	// harm.
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.handleObject(ctx, obj) },
		UpdateFunc: func(_, obj any) { c.handleObject(ctx, obj) },
		DeleteFunc: func(obj any) { c.handleObject(ctx, obj) },
	}
	c.tdsetInformer.AddEventHandler(handler)
	c.deploymentInformer.AddEventHandler(handler)

	for range workers {
		running.Go(func() {
			for c.processNextWorkItem(ctx) {
			}
		})
	}
	<-ctx.Done()
}

// handleObject handles the TDSet that an event concerns. A Deployment has the same name as its
// TDSet, so both have the same key.
func (c *controller) handleObject(ctx context.Context, obj any) {
	name, err := cache.DeletionHandlingObjectToName(obj) // obj may be a tombstone
	if err != nil {
		klog.ErrorS(err, "Not an object")
		return
	}
	c.handle(ctx, name.AsNamespacedName())
}

// handle enqueues a TDSet for the workers.
func (c *controller) handle(_ context.Context, key types.NamespacedName) { c.queue.Add(key) }

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

// newQueue returns a queue that retries a failing key after 5 ms, 10 ms, 20 ms and so on, up to a
// minute. It works with durations, so it doesn't need our clock.
func newQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Minute))
}
