// Starting and stopping: the informers, and the workers that process the queue's keys.

package main

import (
	"context"
	"sync"

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

	c.addHandlers(ctx)
	for range workers {
		running.Go(func() {
			for c.processNextWorkItem(ctx) {
			}
		})
	}
	<-ctx.Done()
}

// handle enqueues a TDSet for the workers. In the chapter it is called enqueue. Here it has the name
// that handleObject calls, which may be your own from 02/5.
func (c *controller) handle(_ context.Context, key types.NamespacedName) { c.queue.Add(key) }
