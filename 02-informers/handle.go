// The work on one Foo. In chapter 03, a queue replaces this file.

package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// handle syncs one Foo and doesn't retry. After a conflict it needn't, because the other write
// causes an event, which is handled too. After any other failure the Foo waits until something else
// happens to it or its Deployment. Chapter 03 fixes that.
func (c *controller) handle(ctx context.Context, key types.NamespacedName) {
	// Each handler runs in its own goroutine, and two could call this for the same Foo at once.
	c.working.Lock()
	defer c.working.Unlock()
	logger := klog.FromContext(ctx).WithValues("foo", key)
	logger.V(4).Info("Work started")
	err := c.syncHandler(klog.NewContext(ctx, logger), key)
	logger.V(4).Info("Work finished", "err", err)
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		logger.V(2).Info("Conflict, waiting for the next event", "err", err)
	case err != nil && ctx.Err() == nil:
		logger.Error(err, "Lost an event: nothing will retry it")
	}
}
