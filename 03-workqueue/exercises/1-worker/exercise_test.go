//go:build check || solution

// These tests check what RunWorker promises. They use client-go's own queue, in bubbles of
// testing/synctest. A bubble's clock moves only when all goroutines wait, so the pauses between
// tries are exact, and an hour takes no time.
//
// As given, RunWorker fails five of them. For each of its four bugs, one test passes as soon as that
// bug is fixed. The fifth test, about the pauses, needs two fixes. `workshop test` checks these
// failures:
//
// fails: TestRunWorker/a key that fails is retried by another worker
// says: event 1: tried once, want 2 tries, after a pause of [5ms]
//
// fails: TestRunWorker/each failure doubles the pause before the next try
// says: event 1: tried once, want 5 tries, after pauses of [5ms 10ms 20ms 40ms]
//
// fails: TestCountedFailures/a key that keeps failing is never dropped
// says: the queue has counted 100 failures, want 101: nothing will retry it
//
// fails: TestCountedFailures/after a success, earlier failures no longer count
// says: the key has succeeded, and the queue still counts 100 failures, want 0
//
// fails: TestTwoKeys/a key doesn't wait for another one that fails
// says: the other key was never processed: its only worker has stopped

package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// The queue's pauses. Each failure doubles the pause, up to the longest one.
const (
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = time.Minute
)

func TestRunWorker(t *testing.T) {
	for sentence, test := range map[string]struct {
		workers  int
		failures []int // how often the key fails after each event, before it succeeds
	}{
		"a key that succeeds is tried once for each event":   {1, []int{0, 0}},
		"a key that fails is retried by another worker":      {2, []int{1}},
		"each failure doubles the pause before the next try": {1, []int{4}},
	} {
		failures := test.failures
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				event := 0
				tries := make([][]time.Time, len(failures)) // for each event
				w := start(t, test.workers, func(string) error {
					tries[event] = append(tries[event], time.Now())
					if len(tries[event]) <= failures[event] {
						return errors.New("the server is down")
					}
					return nil
				})
				for event = range failures {
					w.Queue.Add(keyOf("web"))
					time.Sleep(24 * time.Hour)
					synctest.Wait()
				}
				w.stop()

				for i := range failures {
					if got, want := pauses(tries[i]), backoffs(failures[i]); !slices.Equal(got, want) || len(tries[i]) == 0 {
						t.Errorf("event %d: %s, want %s", i+1,
							describe(len(tries[i]), got), describe(failures[i]+1, want))
					}
				}
			})
		})
	}
}

// In these tests, the queue has counted many failures of the key before its worker starts.
func TestCountedFailures(t *testing.T) {
	const before = 100
	for sentence, test := range map[string]struct {
		result error // of the next try
		want   int   // failures that the queue has counted after it
		say    string
	}{
		"a key that keeps failing is never dropped": {
			errors.New("the server is down"), before + 1,
			"the key has failed again, and the queue has counted %d failures, want %d: nothing will retry it",
		},
		"after a success, earlier failures no longer count": {
			nil, 0,
			"the key has succeeded, and the queue still counts %d failures, want %d",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := start(t, 1, func(string) error { return test.result })
				for range before {
					w.Queue.AddRateLimited(keyOf("web"))
				}
				time.Sleep(longestBackoff / 2) // it is tried once after the shortest backoff
				synctest.Wait()
				got := w.Queue.NumRequeues(keyOf("web"))
				w.stop()

				if got != test.want {
					t.Errorf(test.say, got, test.want)
				}
			})
		})
	}
}

func TestTwoKeys(t *testing.T) {
	t.Run("a key doesn't wait for another one that fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			var other []time.Duration
			failures := 0
			w := start(t, 1, func(name string) error {
				if name == "other" {
					other = append(other, time.Since(begin))
				} else if failures++; failures <= 10 {
					return errors.New("the server is down")
				}
				return nil
			})
			w.Queue.Add(keyOf("web"))
			w.Queue.Add(keyOf("other"))
			time.Sleep(time.Hour)
			w.stop()

			if len(other) == 0 {
				t.Fatal("the other key was never processed: its only worker has stopped")
			}
			if other[0] != 0 {
				t.Errorf("the other key was processed after %v, want at once: a worker must not wait for one key", other[0])
			}
		})
	})

	t.Run("two workers process two keys at once, but never the same one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			var mutex sync.Mutex
			var got []string
			w := start(t, 2, func(name string) error {
				mutex.Lock()
				got = append(got, fmt.Sprint(name, " after ", time.Since(begin)))
				mutex.Unlock()
				time.Sleep(10 * time.Second)
				return nil
			})
			w.Queue.Add(keyOf("web"))
			time.Sleep(time.Second)
			w.Queue.Add(keyOf("web"))
			time.Sleep(time.Second)
			w.Queue.Add(keyOf("other"))
			time.Sleep(time.Hour)
			w.stop()

			want := []string{"web after 0s", "other after 2s", "web after 10s"}
			if !slices.Equal(got, want) {
				t.Errorf("each key takes 10s; web is added after 0s and 1s, other after 2s: "+
					"processing started for %q, want %q", got, want)
			}
		})
	})
}

func TestShutDown(t *testing.T) {
	t.Run("keys that are in the queue at the shutdown are processed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var got []string
			w := start(t, 0, func(name string) error {
				got = append(got, name)
				return nil
			})
			want := []string{"a", "b", "c"}
			for _, name := range want {
				w.Queue.Add(keyOf(name))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			w.Queue.ShutDown()

			w.RunWorker(ctx)

			if !slices.Equal(got, want) {
				t.Errorf("the queue was shut down with %q in it: RunWorker processed %q, "+
					"want all of them, even though ctx has ended", want, got)
			}
		})
	})
}

// workers are a Controller and its running workers.
type workers struct {
	*Controller
	running sync.WaitGroup
}

// start starts n workers.
func start(t *testing.T, n int, work func(name string) error) *workers {
	w := &workers{Controller: &Controller{
		Queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](shortestBackoff, longestBackoff)),
	}}
	var mutex sync.Mutex
	tries := 0
	w.SyncHandler = func(_ context.Context, key types.NamespacedName) error {
		mutex.Lock()
		if tries++; tries == 1000 {
			t.Error("SyncHandler was called 1000 times: a key is retried without a pause")
			w.Queue.ShutDown()
		}
		mutex.Unlock()
		return work(key.Name)
	}
	for range n {
		w.running.Go(func() { w.RunWorker(t.Context()) })
	}
	return w
}

// stop shuts down the queue, and waits until the workers have stopped.
func (w *workers) stop() {
	w.Queue.ShutDown()
	w.running.Wait()
}

func keyOf(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

// pauses returns the times between tries.
func pauses(tries []time.Time) (between []time.Duration) {
	for i := range max(0, len(tries)-1) {
		between = append(between, tries[i+1].Sub(tries[i]))
	}
	return between
}

// backoffs returns the pauses that should follow this number of failures.
func backoffs(failures int) (pauses []time.Duration) {
	pause := shortestBackoff
	for range failures {
		pauses = append(pauses, pause)
		pause = min(2*pause, longestBackoff)
	}
	return pauses
}

// describe puts tries and the pauses between them into words.
func describe(tries int, pauses []time.Duration) string {
	list := fmt.Sprint(pauses)
	switch tries {
	case 0:
		return "never tried"
	case 1:
		return "tried once"
	case 2:
		return "2 tries, after a pause of " + list
	}
	return fmt.Sprintf("%d tries, after pauses of %s", tries, list)
}
