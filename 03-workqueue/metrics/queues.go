package main

// The five queues. Each has two workers, like those of ../queue.go, and its own events and work.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

type queue = workqueue.TypedRateLimitingInterface[string]

// workload is a queue's name, the events that add keys to it, and the work on one key.
type workload struct {
	name   string
	events func(ctx context.Context, q queue)
	sync   func(ctx context.Context, q queue, key string) error
}

var workloads = []workload{
	{name: "healthy", events: tenASecond(10), sync: quick},
	// A sync takes a second, so two workers can't keep up with ten events a second.
	{name: "growing", events: tenASecond(1000), sync: func(ctx context.Context, _ queue, _ string) error {
		return pause(ctx, time.Second)
	}},
	// The request for one key gets no response, and has no timeout.
	{name: "stuck", events: tenASecond(10), sync: func(ctx context.Context, q queue, key string) error {
		if key == "foo-3" {
			<-ctx.Done()
		}
		return quick(ctx, q, key)
	}},
	// The Deployments of ten Foos can't be created, for example because of a quota.
	{name: "failing", events: once(10), sync: func(context.Context, queue, string) error {
		return errors.New("exceeded quota")
	}},
	// Each sync writes something new, such as the time. The write's event adds the key again.
	{name: "hot-loop", events: once(1), sync: func(ctx context.Context, q queue, key string) error {
		defer q.Add(key)
		return quick(ctx, q, key)
	}},
}

// run processes the keys of one queue until ctx ends.
func (w workload) run(ctx context.Context, provider workqueue.MetricsProvider) {
	q := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, time.Minute),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: w.name, MetricsProvider: provider})
	context.AfterFunc(ctx, q.ShutDown)
	var running sync.WaitGroup
	running.Go(func() { w.events(ctx, q) })
	for range 2 {
		running.Go(func() {
			for ctx.Err() == nil && w.processNextWorkItem(ctx, q) {
			}
		})
	}
	running.Wait()
}

// processNextWorkItem is chapter 03's, without its log messages.
func (w workload) processNextWorkItem(ctx context.Context, q queue) bool {
	key, shutdown := q.Get()
	if shutdown {
		return false
	}
	defer q.Done(key)
	if err := w.sync(ctx, q, key); err != nil {
		q.AddRateLimited(key)
		return true
	}
	q.Forget(key)
	return true
}

// once returns the events of a program that starts: one for each object.
func once(objects int) func(context.Context, queue) {
	return func(_ context.Context, q queue) {
		for i := range objects {
			q.Add(fmt.Sprintf("foo-%d", i))
		}
	}
}

// tenASecond returns the events of objects that change in turn, ten each second.
func tenASecond(objects int) func(context.Context, queue) {
	return func(ctx context.Context, q queue) {
		for i := 0; pause(ctx, time.Second/10) == nil; i++ {
			q.Add(fmt.Sprintf("foo-%d", i%objects))
		}
	}
}

// quick is the work of a healthy queue: 10 milliseconds, as for a request or two.
func quick(ctx context.Context, _ queue, _ string) error {
	return pause(ctx, 10*time.Millisecond)
}

// pause waits for d. It returns an error if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
