// The work on one Foo. In chapter 03, a queue takes the place of this file.

package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// handle syncs one Foo, and doesn't retry. After a conflict it needn't, because the write that came
// first causes an event, which leads here again. After any other failure nothing leads here until
// something else happens to this Foo or its Deployment. Chapter 03 fixes that.
func (c *controller) handle(ctx context.Context, key types.NamespacedName) {
	logger := klog.FromContext(ctx).WithValues("foo", key)
	err := c.syncHandler(klog.NewContext(ctx, logger), key)
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		logger.V(2).Info("Someone else wrote first", "err", err)
	case err != nil && ctx.Err() == nil:
		logger.Error(err, "Lost an event: nothing will retry it")
	}
}
