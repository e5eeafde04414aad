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

// newQueue returns a queue that retries failing keys after 5 ms, then 10, 20 and so on, up to a minute. It counts
// durations, so it needs no clock of ours.
func newQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Minute))
}

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

	// Whatever happens, to a TDSet or to a Deployment, is a reason to look at the TDSet concerned. A TDSet that is deleted is
	// none: there is nothing left to be done about it.
	c.tdsetInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
	})
	c.deploymentInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
		DeleteFunc: c.enqueue,
	})

	for range workers {
		running.Go(func() {
			for c.processNextWorkItem(ctx) {
			}
		})
	}
	<-ctx.Done()
}

// enqueue queues the key of the TDSet that an event concerns: a Deployment has the name of its TDSet, so both have the
// same key.
func (c *controller) enqueue(obj any) {
	name, err := cache.DeletionHandlingObjectToName(obj) // obj may be a tombstone
	if err != nil {
		klog.ErrorS(err, "Not an object")
		return
	}
	c.queue.Add(name.AsNamespacedName())
}

// processNextWorkItem waits for a key, works on it, and says whether there may be more.
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
		// This can't be taken back, and needn't be. Should the schedule change, or the TDSet go, the key comes all the
		// same, syncHandler finds nothing to do, and says when to come next. Of several times, the queue keeps the earliest.
		c.queue.AddAfter(key, next.Sub(c.clock.Now()))
	}
	return true
}
