//go:build !solution

// Package gap is about a moment in which the fake clientset forgets.
package gap

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"example.com/operators/04-codegen/pkg/generated/clientset/versioned/fake"
)

// Start starts informer, which asks client for Foos. It returns as soon as informer knows what there is, and misses nothing
// that is done with client from then on; or with an error when ctx ends before.
//
// It is for tests of all kinds, in a bubble of testing/synctest and outside. It may be called again, for another informer
// of client. informer runs until ctx ends.
func Start(ctx context.Context, client *fake.Clientset, informer cache.SharedIndexInformer) error {
	go informer.RunWithContext(ctx)

	// YOUR WORK: most tests wait for this, and for nothing else.
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("wait until the informer knows what there is: %w", context.Cause(ctx))
	}
	return nil
}
