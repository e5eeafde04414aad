// When does a key come again? A controller as the manager would make it, in a bubble in which time costs nothing.

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

func TestWhenAKeyComesAgain(t *testing.T) {
	failed := errors.New("the server is busy")
	hourly := reconcile.Result{RequeueAfter: time.Hour}
	for sentence, test := range map[string]struct {
		result reconcile.Result
		err    error
		want   []time.Duration // within three hours, since the first time
	}{
		"nothing: when there is an event":          {want: nil},
		"RequeueAfter: then, and not before":       {result: hourly, want: []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}},
		"an error: soon, and ever later":           {err: failed, want: backoffs(3 * time.Hour)},
		"RequeueAfter beside an error: as with it": {result: hourly, err: failed, want: backoffs(3 * time.Hour)},
		"a terminal error: when there is an event": {err: reconcile.TerminalError(failed), want: nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var again []time.Duration
				started := time.Now()
				runController(t, func(context.Context, reconcile.Request) (reconcile.Result, error) {
					if passed := time.Since(started); passed > 0 {
						again = append(again, passed)
					}
					return test.result, test.err
				})
				time.Sleep(3*time.Hour + time.Millisecond)
				synctest.Wait()
				t.Log(summary(again))
				if !slices.Equal(again, test.want) {
					t.Errorf("it came again after %v, want %v", again, test.want)
				}
			})
		})
	}
}

// backoffs are the times at which a key that always fails comes again.
func backoffs(within time.Duration) (at []time.Duration) {
	pause, sum := shortestBackoff, shortestBackoff
	for sum <= within {
		at = append(at, sum)
		pause = min(2*pause, longestBackoff)
		sum += pause
	}
	return at
}

func summary(all []time.Duration) string {
	if len(all) == 0 {
		return "it doesn't come again"
	}
	shown := fmt.Sprint("it comes again after ", all[:min(5, len(all))])
	if len(all) > 5 {
		shown += fmt.Sprintf(", and so on: %d times in three hours", len(all))
	}
	return shown
}

// runController runs a controller until the test ends. It gets one key, and no event but this one.
func runController(t *testing.T, reconciler reconcile.Func) {
	t.Helper()
	options := controllerOptions(1)
	options.Reconciler, options.SkipNameValidation = reconciler, new(true)
	c, err := controller.NewUnmanaged("test", options)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(reconcile.Request{})
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
