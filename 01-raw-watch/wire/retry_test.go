// How long a Reflector waits before it retries, and that it ends at once with its context. The
// durations are the real ones, but the bubble's clock jumps over them.

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

// A proxy in front of the server may ask for any delay. If it asked for a day, the watch would miss
// a day, so there is a limit.
func TestRetryAfter(t *testing.T) {
	status := failure(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests)
	status.Details = &metav1.StatusDetails{RetryAfterSeconds: 7}
	header := func(code int, seconds string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", seconds)
			http.Error(w, "Try again later.", code)
		}
	}
	for sentence, test := range map[string]struct {
		server []http.HandlerFunc
		want   time.Duration
	}{
		"a list is refused, and a header has the delay":     {[]http.HandlerFunc{header(http.StatusTooManyRequests, "7")}, 7 * time.Second},
		"a watch is refused, and the Status has the delay":  {[]http.HandlerFunc{list(10), fail(status)}, 7 * time.Second},
		"a watch ends with an ERROR event that has it":      {[]http.HandlerFunc{list(10), stream(failed(status))}, 7 * time.Second},
		"a proxy has lost its server, and asks for one day": {[]http.HandlerFunc{header(http.StatusServiceUnavailable, "86400")}, longestDelay},
		"a list gets no response at all":                    {[]http.HandlerFunc{neverRespond}, requestTimeout},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, test.server...)

				server.follow(t, NewReflector(server.client, "/api/v1/pods"))

				last := len(server.requested()) - 1
				if got := server.waited(last-1, last).Truncate(time.Second); got != test.want {
					t.Errorf("the next request came after %v, want %v", got, test.want)
				}
			})
		})
	}
}

// For any kind of failure, the Reflector ends up with one request every ten seconds or so. That is
// often enough to notice that the server has recovered, and rarely enough not to harm it.
func TestNoFailureCausesAHotLoop(t *testing.T) {
	for sentence, test := range map[string]struct {
		first []http.HandlerFunc // the first responses
		again []http.HandlerFunc // repeated from then on
	}{
		"the server fails": {
			again: []http.HandlerFunc{fail(internalError)},
		},
		"a proxy responds instead of the server": {
			again: []http.HandlerFunc{respond(http.StatusOK, proxyPage)},
		},
		"every watch ends at once": {
			first: []http.HandlerFunc{list(10)},
			again: []http.HandlerFunc{stream()},
		},
		"every watch is refused because history is gone": {
			again: []http.HandlerFunc{list(10), fail(expired)},
		},
		"every watch ends with an ERROR event because history is gone": {
			again: []http.HandlerFunc{list(10), stream(failed(expired))},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, append(test.first, slices.Repeat(test.again, 1000)...)...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()

				NewReflector(server.client, "/api/v1/pods").Run(ctx, make(chan Event))

				if tries := len(server.requested()) / len(test.again); tries < 240 || tries > 370 {
					t.Errorf("got %d tries in an hour, want one every 10 to 15 seconds", tries)
				}
			})
		})
	}
}

// After a watch that received an event, the backoff starts from its shortest delay.
func TestBackoffIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := []http.HandlerFunc{list(10)}
		script = append(script, slices.Repeat([]http.HandlerFunc{fail(internalError)}, 20)...)
		script = append(script, stream(bookmark(11)), fail(internalError))
		server := play(t, script...)

		server.follow(t, NewReflector(server.client, "/api/v1/pods"))

		last := len(server.requested()) - 1
		if got := server.waited(last-3, last-2); got < 10*time.Second {
			t.Errorf("after 20 failures, it waited %v, want at least 10s", got)
		}
		if got := server.waited(last-1, last); got > time.Second {
			t.Errorf("after a successful watch and one failure, it waited %v, want less than 1s", got)
		}
	})
}

// When its context ends, Run returns at once, whatever it is doing.
func TestRunEnds(t *testing.T) {
	for sentence, server := range map[string][]http.HandlerFunc{
		"while it waits for a list":                {neverRespond},
		"while nobody receives the list's events":  {list(10, pod("a", 1))},
		"while a watch sends nothing":              {list(10), stream(quiet)},
		"while nobody receives the watch's events": {list(10), stream(added(pod("a", 11)), quiet)},
		"while it waits for a retry":               slices.Repeat([]http.HandlerFunc{fail(internalError)}, 20),
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, server...)
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				began := time.Now()

				NewReflector(server.client, "/api/v1/pods").Run(ctx, make(chan Event))

				if took := time.Since(began); took != 30*time.Second {
					t.Errorf("Run returned after %v, want 30s, when its context ended", took)
				}
			})
		})
	}
}
