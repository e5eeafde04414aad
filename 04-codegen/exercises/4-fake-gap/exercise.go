//go:build !solution

// Package gap is about changes that the fake clientset doesn't report to a watch.
package gap

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/operators/04-codegen/pkg/generated/clientset/versioned/fake"
)

// Start starts informer, which lists and watches Foos with client. It returns as soon as informer
// has all existing Foos in its cache, and won't miss any later change. If ctx ends before that, it
// returns an error.
//
// It works inside a bubble of testing/synctest, and outside. It may be called again, for another
// informer that uses client. informer runs until ctx ends.
func Start(ctx context.Context, client *fake.Clientset, informer cache.SharedIndexInformer) error {
	go informer.RunWithContext(ctx)

	// YOUR WORK: most tests wait only for this. But an informer can be synced before its watch has
	// started.
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("wait until the informer has synced: %w", context.Cause(ctx))
	}
	return nil
}
