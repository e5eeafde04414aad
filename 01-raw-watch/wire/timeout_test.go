// How a Reflector continues after a timeout. The durations are the real ones, but the bubble's
// clock jumps over them.

package wire

import (
	"context"
	"io"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimeouts(t *testing.T) {
	for name, test := range map[string]struct {
		server   []http.HandlerFunc
		wantNext string        // what is requested after the timeout
		wantWait time.Duration // in whole seconds, because jitter adds a fraction
	}{
		"a watch that ends because it is idle is resumed": {
			server:   []http.HandlerFunc{list(10), stream(added(pod("a", 11)), quiet)},
			wantNext: "watch from 11",
			wantWait: watchTimeout,
		},
		"a watch that ends in the middle of an object is resumed before that object": {
			server:   []http.HandlerFunc{list(10), stream(half(added(pod("a", 11))), quiet)},
			wantNext: "watch from 10",
			wantWait: watchTimeout,
		},
		"a list that never gets a response is requested again": {
			server:   []http.HandlerFunc{neverRespond},
			wantNext: "list limit=500",
			wantWait: requestTimeout,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, test.server...)
				server.client.http.Transport = timingOut{server.client.http.Transport}

				server.follow(t, NewReflector(server.client, "/api/v1/pods"))

				last := len(test.server)
				if got := server.requested()[last]; got != test.wantNext {
					t.Errorf("the next request is %q, want %q", got, test.wantNext)
				}
				if got := server.waited(last-1, last).Truncate(time.Second); got != test.wantWait {
					t.Errorf("it waited %v, want %v", got, test.wantWait)
				}
			})
		})
	}
}

const watchTimeout = 90 * time.Second

// timingOut ends each response after watchTimeout, with the error of an idle timeout.
type timingOut struct{ next http.RoundTripper }

func (t timingOut) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(request.Context(), watchTimeout)
	response, err := t.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = &timedBody{response.Body, ctx, cancel}
	return response, nil
}

type timedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
}

func (b *timedBody) Read(buffer []byte) (int, error) {
	n, err := b.ReadCloser.Read(buffer)
	if b.ctx.Err() == context.DeadlineExceeded {
		return n, os.ErrDeadlineExceeded
	}
	return n, err
}

func (b *timedBody) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}
