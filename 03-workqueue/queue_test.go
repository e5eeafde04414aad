// The queue and the workers, with client-go's own queue and its own clock, in bubbles of
// testing/synctest: there the clock moves when every goroutine waits, so backoffs and timeouts are
// exact, and take no time.

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

var errDiskFull = apierrors.NewInternalError(errors.New("the disk is full"))

func TestAKeyStandsInTheQueueOnce(t *testing.T) {
	c := newCluster(t)

	for range 3 {
		c.handleFoo(t.Context(), aFoo("example", "web", 3))
	}

	if diff := cmp.Diff([]string{"default/example"}, c.queued()); diff != "" {
		t.Errorf("keys in the queue (-want +got):\n%s", diff)
	}
}

// Two workers never have the same key: what is added while it is worked on is kept until that is
// done.
func TestAKeyIsWorkedOnByOneWorkerAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, finish := make(chan string, 10), make(chan struct{})
		c := newWork(t, 2, func(_ context.Context, foo *samplecontrollerv1alpha1.Foo) error {
			begun <- foo.Name
			<-finish
			return nil
		})
		stop, _ := c.startWorkers(4)

		synctest.Wait()
		if len(begun) != 2 {
			t.Fatalf("%d keys are worked on, want 2", len(begun))
		}
		<-begun
		<-begun
		c.handleFoo(t.Context(), aFoo("0", "", 1))
		synctest.Wait()
		if len(begun) != 0 {
			t.Errorf("%s is worked on twice at once", <-begun)
		}

		close(finish)
		synctest.Wait()
		if len(begun) != 1 || <-begun != "0" {
			t.Errorf("the key that was added meanwhile is lost")
		}
		stop()
	})
}

func TestAFailingKeyComesBackLaterEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		c := newWork(t, 1, func(context.Context, *samplecontrollerv1alpha1.Foo) error {
			times = append(times, time.Now())
			if len(times) == 17 || len(times) == 20 {
				return nil
			}
			return errDiskFull
		})
		stop, _ := c.startWorkers(2)
		time.Sleep(time.Hour)
		c.handleFoo(t.Context(), aFoo("0", "", 1)) // it has succeeded by then; now it fails again
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

// Three hundred keys fail in the same moment, because the server is away: when is the last one
// tried again?
func TestManyFailingKeys(t *testing.T) {
	for _, test := range []struct { // in the order in which the text shows them
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
				queue, begun := test.newQueue(), time.Now()
				defer queue.ShutDown()
				for i := range 300 {
					queue.AddRateLimited(types.NamespacedName{Namespace: "default", Name: fmt.Sprint(i)})
				}
				for range 300 {
					key, _ := queue.Get()
					queue.Done(key)
				}
				took := time.Since(begun)
				t.Logf("the last of 300 failed keys is retried after %v", took)
				if took.Round(shortestBackoff) != test.want {
					t.Errorf("want %v", test.want)
				}
			})
		})
	}
}

func TestStopping(t *testing.T) {
	for name, test := range map[string]struct {
		takes     time.Duration // the work on each of three keys, one after the other
		loseIn    time.Duration // from the stop until the lease is lost; 0: it isn't
		want      time.Duration // from the stop to the end of the last worker
		wantBegun int32
		wantDone  int32
	}{
		"what is in the queue is finished":                  {5 * time.Second, 0, 15 * time.Second, 3, 3},
		"work that takes too long is cancelled":             {15 * time.Second, 0, shutdownTimeout, 2, 1},
		"once the lease is lost, the rest is cancelled too": {5 * time.Second, 7 * time.Second, 7 * time.Second, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var begun, done atomic.Int32
				c := newWork(t, 3, func(ctx context.Context, _ *samplecontrollerv1alpha1.Foo) error {
					begun.Add(1)
					select {
					case <-time.After(test.takes):
						done.Add(1)
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				stop, loseLease := c.startWorkers(1)
				synctest.Wait()

				stopped := time.Now()
				if test.loseIn > 0 {
					time.AfterFunc(test.loseIn, loseLease)
				}
				stop()

				if got := time.Since(stopped); got != test.want {
					t.Errorf("it took %v to stop, want %v", got, test.want)
				}
				if begun, done := begun.Load(), done.Load(); begun != test.wantBegun || done != test.wantDone {
					t.Errorf("the work on %d keys was begun, on %d finished, want %d and %d", begun, done, test.wantBegun, test.wantDone)
				}
			})
		})
	}
}

func TestProcessNextWorkItem(t *testing.T) {
	foos := foosResource.GroupResource()
	for name, test := range map[string]struct {
		answer       error
		wantRequeues int // 0: the key is done with, and its failures are forgotten
	}{
		"it succeeds":               {nil, 0},
		"the server fails":          {errDiskFull, 3},
		"somebody else wrote first": {apierrors.NewConflict(foos, "0", nil), 3},
		"the cache was behind":      {apierrors.NewAlreadyExists(foos, "0"), 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := newWork(t, 1, func(context.Context, *samplecontrollerv1alpha1.Foo) error { return test.answer })
			key := types.NamespacedName{Namespace: "default", Name: "0"}
			c.queue.AddRateLimited(key) // it has failed twice before
			c.queue.AddRateLimited(key)

			if !c.processNextWorkItem(t.Context()) {
				t.Error("it says that there will be no more keys")
			}

			if got := c.queue.NumRequeues(key); got != test.wantRequeues {
				t.Errorf("the key has failed %d times, want %d", got, test.wantRequeues)
			}
			c.queue.ShutDown()
			for c.processNextWorkItem(t.Context()) {
			}
		})
	}
}

// newWork returns a cluster with so many Foos, named "0", "1" and so on, all in the queue. Each has
// its Deployment: the update of its status is all that is to be done, and work is called for it.
func newWork(t *testing.T, foos int, work func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error) *cluster {
	var objects []metav1.Object
	for i := range foos {
		foo := aFoo(fmt.Sprint(i), fmt.Sprint("web-", i), 1)
		objects = append(objects, foo, deploymentOf(foo))
	}
	c := newCluster(t, objects...)
	c.informed()
	c.fakeFoos.onUpdate = work
	for _, object := range objects {
		if foo, isFoo := object.(*samplecontrollerv1alpha1.Foo); isFoo {
			c.handleFoo(t.Context(), foo)
		}
	}
	return c
}

// startWorkers starts so many workers. stop tells them to stop, and returns when they have.
func (c *cluster) startWorkers(workers int) (stop, loseLease func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	leading, loseLease := context.WithCancel(context.WithoutCancel(c.t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.runWorkers(ctx, leading, workers)
	}()
	return func() {
		cancel()
		<-ended
		loseLease()
	}, loseLease
}

// queued takes out of the queue what is in it.
func (c *cluster) queued() []string {
	var names []string
	for c.queue.Len() > 0 {
		key, _ := c.queue.Get()
		c.queue.Done(key)
		names = append(names, key.String())
	}
	slices.Sort(names)
	return names
}
