//go:build solution

// Package gap is about a moment in which the fake clientset forgets.
package gap

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/operators/04-codegen/pkg/generated/clientset/versioned/fake"
)

// Start starts informer, which asks client for Foos. It returns as soon as informer knows what there is, and misses nothing
// that is done with client from then on; or with an error when ctx ends before.
//
// It is for tests of all kinds, in a bubble of testing/synctest and outside. It may be called again, for another informer
// of client. informer runs until ctx ends.
func Start(ctx context.Context, client *fake.Clientset, informer cache.SharedIndexInformer) error {
	// 1. Have it said when the watch is there. This answers in place of the clientset's own reactor, and does what that
	// does. The options are part of it: they say which list the watch goes on from, and what was made since then comes
	// first.
	watching := make(chan struct{})
	var once sync.Once // a watch that ends is followed by the next one
	client.PrependWatchReactor("foos", func(action clienttesting.Action) (handled bool, stream watch.Interface, err error) {
		options := action.(clienttesting.WatchActionImpl).ListOptions
		stream, err = client.Tracker().Watch(action.GetResource(), action.GetNamespace(), options)
		if err == nil {
			once.Do(func() { close(watching) })
		}
		return true, stream, err
	})

	// 2. List, then watch.
	go informer.RunWithContext(ctx)

	// 3. An informer has synced when it knows its list. What is deleted before it watches, the fake clientset tells nobody.
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("wait until the informer knows what there is: %w", context.Cause(ctx))
	}
	select {
	case <-watching:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait until the informer watches: %w", context.Cause(ctx))
	}
}
