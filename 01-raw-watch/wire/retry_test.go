// How long a Reflector waits before it tries again, and that it doesn't wait with its own end. The
// times are the real ones, by the bubble's clock.

package wire

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRetryAfter(t *testing.T) {
	status := failure(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	status.Details = &metav1.StatusDetails{RetryAfterSeconds: 7}
	header := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "Try again later.", code)
		}
	}
	for name, server := range map[string][]http.HandlerFunc{
		"a list refused, the time in a header":              {header(http.StatusTooManyRequests)},
		"a list refused, the time in the Status":            {fail(status)},
		"a watch refused, the time in a header":             {list(10), header(http.StatusTooManyRequests)},
		"a watch refused, the time in the Status":           {list(10), fail(status)},
		"a watch ended by an event, the time in the Status": {list(10), stream(failed(status))},
		"a server that is starting, the time in a header":   {header(http.StatusServiceUnavailable)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, server...)

				server.follow(t, NewReflector(server.client, "/api/v1/pods"))

				last := len(server.requested()) - 1
				if got := server.waited(last-1, last); got < 7*time.Second {
					t.Errorf("asked again after %v, want 7s at least", got)
				}
			})
		})
	}
}

// A proxy in front of the server may ask for any delay. If it asked for a day, the watch would miss
// a day.
func TestRetryAfterHasABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := play(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "86400")
			http.Error(w, "Come back tomorrow.", http.StatusServiceUnavailable)
		})

		server.follow(t, NewReflector(server.client, "/api/v1/pods"))

		if got := server.waited(0, 1); got != longestDelay {
			t.Errorf("asked again after %v, want %v", got, longestDelay)
		}
	})
}

// However a server fails, it is asked about every ten seconds in the long run: often enough to
// notice that it is well again, too seldom to hurt it.
func TestNoFailureMakesAHotLoop(t *testing.T) {
	for name, test := range map[string]struct {
		first []http.HandlerFunc // answered once
		again []http.HandlerFunc // answered from then on
	}{
		"the server fails": {
			again: []http.HandlerFunc{fail(internalError)},
		},
		"the credentials are refused": {
			again: []http.HandlerFunc{fail(failure(http.StatusUnauthorized, metav1.StatusReasonUnauthorized))},
		},
		"a proxy answers in the server's place": {
			again: []http.HandlerFunc{say(http.StatusOK, aProxysPage)},
		},
		"every connection is cut": {
			again: []http.HandlerFunc{stream(cut)},
		},
		"every watch ends at once": {
			first: []http.HandlerFunc{list(10)},
			again: []http.HandlerFunc{stream()},
		},
		"every watch is told that history is gone": {
			again: []http.HandlerFunc{list(10), fail(expired)},
		},
		"every watch is told that history is gone, in the stream": {
			again: []http.HandlerFunc{list(10), stream(failed(expired))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, append(test.first, slices.Repeat(test.again, 1000)...)...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()

				NewReflector(server.client, "/api/v1/pods").Run(ctx, make(chan Event))

				if tries := len(server.requested()) / len(test.again); tries < 240 || tries > 370 {
					t.Errorf("%d tries in an hour, want one every 10 to 15 seconds", tries)
				}
			})
		})
	}
}

// Failures of the past don't count: after a watch that brought something, the next failure is the
// first.
func TestBackoffStartsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := []http.HandlerFunc{list(10)}
		script = append(script, slices.Repeat([]http.HandlerFunc{fail(internalError)}, 20)...)
		script = append(script, stream(bookmark(11)), fail(internalError))
		server := play(t, script...)

		server.follow(t, NewReflector(server.client, "/api/v1/pods"))

		last := len(server.requested()) - 1
		if got := server.waited(last-3, last-2); got < 10*time.Second {
			t.Errorf("after 20 failures it waited %v, want 10s at least", got)
		}
		if got := server.waited(last-1, last); got > time.Second {
			t.Errorf("after a watch that went well and a failure it waited %v, want less than 1s", got)
		}
	})
}

// Run ends with its context at once, whatever it is doing.
func TestRunEnds(t *testing.T) {
	for name, server := range map[string][]http.HandlerFunc{
		"while a list is waited for":            {neverAnswer},
		"while nobody takes the list's events":  {list(10, pod("a", 1))},
		"while a watch is waited for":           {list(10), neverAnswer},
		"while a watch is quiet":                {list(10), stream(quiet)},
		"while nobody takes the watch's events": {list(10), stream(added(pod("a", 11)), quiet)},
		"while it waits to try again":           slices.Repeat([]http.HandlerFunc{fail(internalError)}, 20),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, server...)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					NewReflector(server.client, "/api/v1/pods").Run(ctx, make(chan Event))
				}()
				time.Sleep(30 * time.Second) // until it does what the name says
				synctest.Wait()

				asked := time.Now()
				cancel()
				<-ended

				if took := time.Since(asked); took != 0 {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
