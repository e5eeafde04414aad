// The queue and the workers, with client-go's own queue, in testing/synctest bubbles. A bubble's
// clock moves only when all goroutines wait, so backoffs and timeouts are exact, and take no time.

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

var errDiskFull = apierrors.NewInternalError(errors.New("the disk is full"))

func TestAKeyIsInTheQueueOnce(t *testing.T) {
	c := newCluster(t)

	for range 3 {
		c.handleFoo(t.Context(), aFoo("example", "web", 3))
	}

	if got := c.queue.Len(); got != 1 {
		t.Errorf("there are %d keys in the queue, want 1", got)
	}
}

// Two workers never process the same key at once. If a key is added while a worker processes it, it
// waits in the queue until that worker is done.
func TestAKeyIsProcessedByOneWorkerAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, finish := make(chan string, 10), make(chan struct{})
		c := newWork(t, 2, func(_ context.Context, foo *samplecontrollerv1alpha1.Foo) error {
			started <- foo.Name
			<-finish
			return nil
		})
		stop := c.startWorkers(4)

		synctest.Wait()
		if len(started) != 2 {
			t.Fatalf("%d keys are being processed, want 2", len(started))
		}
		<-started
		<-started
		c.handleFoo(t.Context(), aFoo("0", "", 1))
		synctest.Wait()
		if len(started) != 0 {
			t.Errorf("two workers process Foo %s at once", <-started)
		}

		close(finish)
		synctest.Wait()
		if len(started) != 1 || <-started != "0" {
			t.Errorf("the key that was added in the meantime wasn't processed")
		}
		stop()
	})
}

// A key can be in two states at once: it waits for a retry, and an event has queued it. The event
// doesn't cancel the retry.
func TestAWaitingKeyIsAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		c := newWork(t, 1, func(context.Context, *samplecontrollerv1alpha1.Foo) error {
			if calls.Add(1) == 1 {
				return errDiskFull
			}
			return nil
		})
		defer c.startWorkers(1)()
		synctest.Wait()
		if calls := calls.Load(); calls != 1 {
			t.Fatalf("before the retry, the key was processed %d times, want 1", calls)
		}

		c.handleFoo(t.Context(), aFoo("0", "", 1))
		synctest.Wait()
		if calls := calls.Load(); calls != 2 {
			t.Errorf("after an event, the key was processed %d times, want 2", calls)
		}
		time.Sleep(shortestBackoff)
		synctest.Wait()
		if calls := calls.Load(); calls != 3 {
			t.Errorf("after the backoff, the key was processed %d times, want 3", calls)
		}
	})
}

func TestEachFailureDoublesThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		c := newWork(t, 1, func(context.Context, *samplecontrollerv1alpha1.Foo) error {
			times = append(times, time.Now())
			if len(times) == 17 || len(times) == 20 {
				return nil
			}
			return errDiskFull
		})
		stop := c.startWorkers(2)
		time.Sleep(time.Hour)
		c.handleFoo(t.Context(), aFoo("0", "", 1)) // it has succeeded in the meantime; now it fails again
		time.Sleep(time.Hour)
		stop()

		var pauses []time.Duration
		for i, at := range times[1:] {
			pauses = append(pauses, at.Sub(times[i]))
		}
		const ms = time.Millisecond
		want := []time.Duration{
			5 * ms, 10 * ms, 20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 640 * ms, 1280 * ms, 2560 * ms, 5120 * ms, 10240 * ms,
			20480 * ms, 40960 * ms, time.Minute, time.Minute, // then it succeeds, so the failures are forgotten
			pauses[16], 5 * ms, 10 * ms,
		}
		if diff := cmp.Diff(want, pauses); diff != "" {
			t.Errorf("pauses (-want +got):\n%s", diff)
		}
	})
}

// Three hundred keys fail at the same moment, because the API server is down. When is the last one
// retried?
func TestManyFailingKeys(t *testing.T) {
	for _, test := range []struct {
		queue    string
		newQueue func() workqueue.TypedRateLimitingInterface[types.NamespacedName]
		want     time.Duration
	}{
		{"this controller's", newQueue, shortestBackoff},
		{"client-go's default", func() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
			return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
		}, 20 * time.Second},
	} {
		t.Run(test.queue, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue, failed := test.newQueue(), time.Now()
				defer queue.ShutDown()
				for i := range 300 {
					queue.AddRateLimited(types.NamespacedName{Namespace: "default", Name: fmt.Sprint(i)})
				}
				for range 300 {
					key, _ := queue.Get()
					queue.Done(key)
				}
				took := time.Since(failed)
				t.Logf("the last of 300 failed keys is retried after %v", took)
				if took.Round(shortestBackoff) != test.want {
					t.Errorf("the last of 300 failed keys was retried after %v, want %v", took, test.want)
				}
			})
		})
	}
}

func TestShutdown(t *testing.T) {
	for name, test := range map[string]struct {
		takes        time.Duration // the work on each of three keys, one after the other
		want         time.Duration // from the shutdown until the worker has stopped
		wantStarted  int32         // keys
		wantFinished int32
	}{
		"the keys in the queue are processed":          {3 * time.Second, 9 * time.Second, 3, 3},
		"work is cancelled after the shutdown timeout": {8 * time.Second, shutdownTimeout, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var started, finished atomic.Int32
				c := newWork(t, 3, func(ctx context.Context, _ *samplecontrollerv1alpha1.Foo) error {
					started.Add(1)
					select {
					case <-time.After(test.takes):
						finished.Add(1)
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				stop := c.startWorkers(1)
				synctest.Wait()

				shutdown := time.Now()
				stop()

				if got := time.Since(shutdown); got != test.want {
					t.Errorf("the worker stopped after %v, want %v", got, test.want)
				}
				if started, finished := started.Load(), finished.Load(); started != test.wantStarted || finished != test.wantFinished {
					t.Errorf("%d keys were started and %d finished, want %d and %d", started, finished, test.wantStarted, test.wantFinished)
				}
			})
		})
	}
}

func TestProcessNextWorkItem(t *testing.T) {
	foos := foosResource.GroupResource()
	for name, test := range map[string]struct {
		answer       error
		wantRequeues int // 0 if the key isn't retried, and its failures are forgotten
	}{
		"the work succeeds":          {nil, 0},
		"the server fails":           {errDiskFull, 3},
		"somebody else writes first": {apierrors.NewConflict(foos, "0", nil), 3},
		"the cache is behind":        {apierrors.NewAlreadyExists(foos, "0"), 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := newWork(t, 1, func(context.Context, *samplecontrollerv1alpha1.Foo) error { return test.answer })
			key := types.NamespacedName{Namespace: "default", Name: "0"}
			c.queue.AddRateLimited(key) // it has failed twice before
			c.queue.AddRateLimited(key)

			if !c.processNextWorkItem(t.Context()) {
				t.Error("processNextWorkItem returned false, want true: the queue isn't shut down")
			}

			if got := c.queue.NumRequeues(key); got != test.wantRequeues {
				t.Errorf("the queue counts %d failures of the key, want %d", got, test.wantRequeues)
			}
			c.queue.ShutDown()
			for c.processNextWorkItem(t.Context()) {
			}
		})
	}
}

// newWork returns a cluster with n Foos, named "0", "1" and so on, and with their keys in the
// queue. Each Foo has its Deployment, so only its status needs an update, and that update calls
// work.
func newWork(t *testing.T, n int, work func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error) *cluster {
	c := newCluster(t)
	c.onUpdate = work
	for i := range n {
		foo := aFoo(fmt.Sprint(i), fmt.Sprint("web-", i), 1)
		c.cache(foo, deploymentOf(foo))
		c.handleFoo(t.Context(), foo)
	}
	return c
}

// startWorkers starts that many workers. stop shuts them down and waits until they have stopped.
func (c *cluster) startWorkers(workers int) (stop func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.runWorkers(ctx, workers)
	}()
	return func() {
		cancel()
		<-ended
	}
}
