//go:build !solution

// Command 5-tdset is a controller for TDSets, built on client-go's informers. A TDSet asks for a
// Deployment that is scaled by the time of day.
package main

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

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
	// YOUR WORK: stop all timers. None may fire after run has returned.
}

// addHandlers makes the informers call handleObject.
func (c *controller) addHandlers(ctx context.Context) {
	// YOUR WORK: this is the only handler so far. Which other events matter, and for which kinds?
	c.tdsetInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.handleObject(ctx, obj) },
	})
}

// handleObject handles the TDSet that an event concerns. A Deployment has the same name as its
// TDSet, so both have the same key.
func (c *controller) handleObject(ctx context.Context, obj any) {
	object := obj.(metav1.Object) // YOUR WORK: is obj always one?
	c.handle(ctx, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
}

// handle calls syncHandler for one TDSet, and sets the timer for the next call.
func (c *controller) handle(ctx context.Context, key types.NamespacedName) {
	c.working.Lock()
	defer c.working.Unlock()
	// YOUR WORK: set the timer. syncHandler returns the time at which it has to be called again.
	// Keep one timer for each TDSet in c.timers (c.clock.AfterFunc creates one), and never keep an
	// outdated one. After a failure, retry within a minute, but not at once.
	if _, err := c.syncHandler(ctx, key); err != nil {
		logFailure(ctx, key, err)
	}
}
