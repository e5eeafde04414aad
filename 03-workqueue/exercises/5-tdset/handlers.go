// The informers' handlers, as in the solution of chapter 02's exercise.

package main

import (
	"context"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

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
