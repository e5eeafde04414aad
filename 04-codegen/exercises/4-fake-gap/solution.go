//go:build solution

// Package gap is about changes that the fake clientset doesn't report to a watch.
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

// Start starts informer, which lists and watches Foos with client. It returns as soon as informer
// has all existing Foos in its cache, and won't miss any later change. If ctx ends before that, it
// returns an error.
//
// It works inside a bubble of testing/synctest, and outside. It may be called again, for another
// informer that uses client. informer runs until ctx ends.
func Start(ctx context.Context, client *fake.Clientset, informer cache.SharedIndexInformer) error {
	// 1. Find out when the watch starts. This reactor answers instead of the clientset's own one,
	// and does the same. It passes on the options, because they contain the list's resourceVersion:
	// the watch begins with everything that was created or changed since.
	watching := make(chan struct{})
	var once sync.Once // when a watch ends, the informer starts another one
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

	// 3. Wait for the list, and then for the watch: the fake clientset doesn't report what was
	// deleted before the watch started.
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("wait until the informer has synced: %w", context.Cause(ctx))
	}
	select {
	case <-watching:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait until the informer watches: %w", context.Cause(ctx))
	}
}
