// Package tests is about tests that find bugs in the worker of a controller. It has a worker that
// keeps its promises, and five that each break one of them.
package tests

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue has the keys of the objects to work on.
type Queue = workqueue.TypedRateLimitingInterface[string]

// A Worker processes the keys in queue with sync until the queue is shut down. Several goroutines
// may run it on the same queue.
//
// It promises:
//   - If the work on a key fails, it is tried again after a pause, which doubles with each failure.
//   - A key that keeps failing is never dropped.
//   - After a success, the earlier failures of the key no longer count.
//   - Other keys don't wait for one that fails.
//   - Two goroutines never work on the same key at the same time.
type Worker func(ctx context.Context, queue Queue, sync func(ctx context.Context, key string) error)

// right keeps all promises.
func right(ctx context.Context, queue Queue, sync func(context.Context, string) error) {
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return
		}
		if err := sync(ctx, key); err != nil {
			queue.AddRateLimited(key)
		} else {
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

// wrong are workers that each break one of the promises. Their names say how.
var wrong = map[string]Worker{
	"retries without a pause": func(ctx context.Context, queue Queue, sync func(context.Context, string) error) {
		for {
			key, shutdown := queue.Get()
			if shutdown {
				return
			}
			if err := sync(ctx, key); err != nil {
				queue.Add(key)
			} else {
				queue.Forget(key)
			}
			queue.Done(key)
		}
	},
	"drops a key after its fifth failure": func(ctx context.Context, queue Queue, sync func(context.Context, string) error) {
		for {
			key, shutdown := queue.Get()
			if shutdown {
				return
			}
			if err := sync(ctx, key); err != nil && queue.NumRequeues(key) < 4 {
				queue.AddRateLimited(key)
			} else {
				queue.Forget(key)
			}
			queue.Done(key)
		}
	},
	"never forgets failures": func(ctx context.Context, queue Queue, sync func(context.Context, string) error) {
		for {
			key, shutdown := queue.Get()
			if shutdown {
				return
			}
			if err := sync(ctx, key); err != nil {
				queue.AddRateLimited(key)
			}
			queue.Done(key)
		}
	},
	"makes other keys wait for one that fails": func(ctx context.Context, queue Queue, sync func(context.Context, string) error) {
		for {
			key, shutdown := queue.Get()
			if shutdown {
				return
			}
			pause := 5 * time.Millisecond
			for sync(ctx, key) != nil && ctx.Err() == nil {
				select {
				case <-time.After(pause):
				case <-ctx.Done():
				}
				pause = min(2*pause, time.Minute)
			}
			queue.Done(key)
		}
	},
	"works on a key twice at the same time": func(ctx context.Context, queue Queue, sync func(context.Context, string) error) {
		for {
			key, shutdown := queue.Get()
			if shutdown {
				return
			}
			queue.Done(key)
			if err := sync(ctx, key); err != nil {
				queue.AddRateLimited(key)
			} else {
				queue.Forget(key)
			}
		}
	},
}
