//go:build check || solution

// The test of your tests. They must accept the worker that keeps its promises, and report an error
// for each of the others.
//
// As given, there is one test, which accepts them all. `workshop test` checks these failures:
//
// fails: TestTests/they report the worker that retries without a pause
// says: which test would notice that the worker retries without a pause?
//
// fails: TestTests/they report the worker that drops a key after its fifth failure
// says: which test would notice that the worker drops a key after its fifth failure?
//
// fails: TestTests/they report the worker that never forgets failures
// says: which test would notice that the worker never forgets failures?
//
// fails: TestTests/they report the worker that makes other keys wait for one that fails
// says: which test would notice that the worker makes other keys wait for one that fails?
//
// fails: TestTests/they report the worker that works on a key twice at the same time
// says: which test would notice that the worker works on a key twice at the same time?

package tests

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

func TestTests(t *testing.T) {
	t.Run("they accept the worker that keeps its promises", func(t *testing.T) {
		for _, reported := range run(t, right) {
			t.Errorf("they report: %s", reported)
		}
	})
	for _, how := range slices.Sorted(maps.Keys(wrong)) {
		t.Run("they report the worker that "+how, func(t *testing.T) {
			if len(run(t, wrong[how])) == 0 {
				t.Errorf("all tests pass; which test would notice that the worker %s?", how)
			}
		})
	}
}

// mostTries is how often a worker may process keys in one test, so that one without pauses ends.
const mostTries = 1000

// run runs all tests on a worker, and returns what they report.
func run(t *testing.T, worker Worker) (reported []string) {
	for _, test := range Tests {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{}
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			var queues []Queue
			start := func(goroutines int, sync func(string) error) Queue {
				queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, time.Minute))
				queues = append(queues, queue)
				tries := 0
				for range goroutines {
					running.Go(func() {
						worker(ctx, queue, func(ctx context.Context, key string) error {
							if r.count(&tries) > mostTries {
								<-ctx.Done() // until the test ends
								return errors.New("the test has ended")
							}
							return sync(key)
						})
					})
				}
				return queue
			}
			test(r, start)
			stop()
			for _, queue := range queues {
				queue.ShutDown()
			}
			running.Wait()
			reported = append(reported, r.reported...)
		})
	}
	return reported
}

// recorder is a T that remembers the errors.
type recorder struct {
	mu       sync.Mutex
	reported []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reported = append(r.reported, fmt.Sprintf(format, args...))
}

// count increases n, and returns it.
func (r *recorder) count(n *int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
	return *n
}
