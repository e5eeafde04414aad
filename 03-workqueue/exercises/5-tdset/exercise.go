//go:build !solution

// Command 5-tdset is a controller for TDSets on client-go's informers and workqueue. A TDSet asks
// for a Deployment that is scaled by the time of day.
package main

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
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

	// YOUR WORK: the handlers. This is the only one so far.
	c.tdsetInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.handleObject(ctx, obj) },
	})

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
	object := obj.(metav1.Object)
	c.handle(ctx, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
}

// handle enqueues a TDSet for the workers.
func (c *controller) handle(_ context.Context, key types.NamespacedName) { c.queue.Add(key) }

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
