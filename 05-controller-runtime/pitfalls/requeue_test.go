// Reconcile returns RequeueAfter together with an error, and you expect the next call after that
// time. But only the error counts: the key is retried after 5 ms, and then after pauses that double
// up to 1000 s. controller-runtime only logs a warning.
//
// Return an error for what may succeed next time, RequeueAfter for what takes its time, and neither
// for what will cause an event.

package pitfalls

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

func TestRequeue(t *testing.T) {
	busy := errors.New("the server is busy")
	hourly := ctrl.Result{RequeueAfter: time.Hour}
	hours := []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}
	for _, test := range []struct {
		sentence string
		result   ctrl.Result
		err      error
		want     []time.Duration // the later calls within three hours, counted from the first call
	}{
		{"wrong: RequeueAfter and an error", hourly, busy, backoffs(3 * time.Hour)},
		{"right: RequeueAfter", hourly, nil, hours},
		{"right: an error", ctrl.Result{}, busy, backoffs(3 * time.Hour)},
		{"right: a terminal error", ctrl.Result{}, reconcile.TerminalError(busy), nil},
		{"right: neither", ctrl.Result{}, nil, nil},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // three hours in no time
				var again []time.Duration
				started := time.Now()
				runController(t, func(context.Context, ctrl.Request) (ctrl.Result, error) {
					if passed := time.Since(started); passed > 0 {
						again = append(again, passed)
					}
					return test.result, test.err
				})
				time.Sleep(3*time.Hour + time.Millisecond)
				synctest.Wait()
				first := again[:min(5, len(again))]
				t.Logf("%d more calls in three hours, the first after %v", len(again), first)
				if !slices.Equal(again, test.want) {
					t.Errorf("called again after %v, want %v", again, test.want)
				}
			})
		})
	}
}

// backoffs returns when a key that always fails is retried.
func backoffs(within time.Duration) (at []time.Duration) {
	pause := 5 * time.Millisecond
	for sum := pause; sum <= within; sum += pause {
		at = append(at, sum)
		pause = min(2*pause, 1000*time.Second)
	}
	return at
}

// runController runs a controller with the default options until the test ends. Its source sends
// one key and nothing else.
func runController(t *testing.T, reconciler reconcile.Func) {
	t.Helper()
	options := controller.Options{Reconciler: reconciler, SkipNameValidation: new(true)}
	c, err := controller.NewUnmanaged("test", options)
	must(t, err)
	type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]
	must(t, c.Watch(source.Func(func(_ context.Context, q queue) error {
		q.Add(ctrl.Request{})
		return nil
	})))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
}
