//go:build solution

// Command 5-tdset is a controller for TDSets, built on client-go's informers. A TDSet asks for a
// Deployment that is scaled by the time of day.
package main

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// retryAfter is the pause between a failure and the next try. Chapter 03 does better.
const retryAfter = time.Minute

// run keeps the Deployments up to date until ctx ends.
func (c *controller) run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.tdsetInformer.RunWithContext(ctx) })
	running.Go(func() { c.deploymentInformer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), c.tdsetInformer.HasSynced, c.deploymentInformer.HasSynced) {
		return
	}

	c.addHandlers(ctx)
	<-ctx.Done()
	c.working.Lock()
	defer c.working.Unlock()
	for _, timer := range c.timers {
		timer.Stop()
	}
}

// addHandlers makes the informers call handleObject. Any change to a TDSet or a Deployment is a
// reason for it. So is a deletion, because a deleted Deployment has to be created again, and a
// deleted TDSet isn't due any more.
func (c *controller) addHandlers(ctx context.Context) {
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.handleObject(ctx, obj) },
		UpdateFunc: func(_, obj any) { c.handleObject(ctx, obj) },
		DeleteFunc: func(obj any) { c.handleObject(ctx, obj) },
	}
	c.tdsetInformer.AddEventHandler(handler)
	c.deploymentInformer.AddEventHandler(handler)
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

// handle calls syncHandler for one TDSet, and sets the timer for the next call.
func (c *controller) handle(ctx context.Context, key types.NamespacedName) {
	c.working.Lock()
	defer c.working.Unlock()
	if ctx.Err() != nil {
		return // otherwise, this would set a timer that nobody stops
	}
	// This call replaces the one that the timer is set for. If the timer has fired already, its
	// call is waiting for the lock. Then syncHandler is called once more than necessary, which is
	// harmless.
	if timer := c.timers[key]; timer != nil {
		timer.Stop()
		delete(c.timers, key)
	}

	next, err := c.syncHandler(ctx, key)
	if err != nil {
		logFailure(ctx, key, err)
		// Without this, nothing would retry a write that fails at nine o'clock until the next
		// boundary.
		next = c.clock.Now().Add(retryAfter)
	}
	if !next.IsZero() {
		c.timers[key] = c.clock.AfterFunc(next.Sub(c.clock.Now()), func() { c.handle(ctx, key) })
	}
}
