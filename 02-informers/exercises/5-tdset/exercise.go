//go:build !solution

// Command 5-tdset is a controller for TDSets on client-go's informers: Deployments that are scaled by the time of day.
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
	var informers sync.WaitGroup
	defer informers.Wait()
	informers.Go(func() { c.tdsetInformer.RunWithContext(ctx) })
	informers.Go(func() { c.deploymentInformer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), c.tdsetInformer.HasSynced, c.deploymentInformer.HasSynced) {
		return
	}

	// YOUR WORK: the handlers. This is the only one so far.
	c.tdsetInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { c.handleObject(ctx, obj) },
	})

	<-ctx.Done()
	// YOUR WORK: stop the timers. None may fire after this.
}

// handleObject acts on the TDSet that an event concerns: a Deployment has the name of its TDSet, so both have the same key.
func (c *controller) handleObject(ctx context.Context, obj any) {
	object := obj.(metav1.Object)
	c.handle(ctx, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()})
}

// handle brings one TDSet up to date, and sets the timer that will bring it back.
func (c *controller) handle(ctx context.Context, key types.NamespacedName) {
	c.working.Lock()
	defer c.working.Unlock()
	// YOUR WORK: the timer. syncHandler returns the time at which the TDSet is due again. Keep one timer for each TDSet
	// in c.timers (c.clock.AfterFunc makes it), and never an outdated one. Retry a failure within a minute, but not at once.
	if _, err := c.syncHandler(ctx, key); err != nil {
		logFailure(ctx, key, err)
	}
}
