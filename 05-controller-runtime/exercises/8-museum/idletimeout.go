// A timeout for idle watches. This file is here for production and is the same in every chapter, so
// read it last.
//
// client-go sends HTTP/2 pings, so it notices a dead connection. It doesn't notice a watch that
// stops sending while its connection is alive, which happens behind some proxies. The controller
// would miss every change until the API server ends the watch, and that takes minutes. A healthy
// watch is never idle for long, because the API server sends a bookmark about once a minute.

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// addWatchIdleTimeout makes config's clients end any watch that has sent nothing for the timeout.
// The watch then fails with os.ErrDeadlineExceeded, and its Reflector starts a new one.
func addWatchIdleTimeout(config *rest.Config, timeout time.Duration) error {
	if timeout <= 0 {
		return fmt.Errorf("--watch-idle-timeout %v: must be positive, and should be more than 1m, because a healthy watch may send nothing for a minute", timeout)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return idleTimeout{next, timeout} })
	return nil
}

// idleTimeout is a RoundTripper, which is the place for anything that concerns every request.
type idleTimeout struct {
	next    http.RoundTripper
	timeout time.Duration
}

// WrappedRoundTripper lets client-go cancel requests that take longer than a client's Timeout.
func (t idleTimeout) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends request. If it is a watch, the timeout limits the wait for the response's
// headers, and then each read of its body.
func (t idleTimeout) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("watch") != "true" {
		return t.next.RoundTrip(request)
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	timer := time.AfterFunc(t.timeout, func() {
		klog.InfoS("Ending an idle watch", "path", request.URL.Path, "idle", t.timeout)
		cancel(os.ErrDeadlineExceeded)
	})
	response, err := t.next.RoundTrip(request.WithContext(ctx))
	timer.Stop()
	if err != nil {
		defer cancel(nil)
		return nil, causeOf(ctx, err)
	}
	response.Body = &watchBody{response.Body, ctx, cancel, timer, t.timeout}
	return response, nil
}

// watchBody is the body of a watch's response. The time between two reads doesn't count, because
// the client handles events then.
type watchBody struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	timeout time.Duration
}

func (b *watchBody) Read(buffer []byte) (int, error) {
	b.timer.Reset(b.timeout)
	defer b.timer.Stop()
	n, err := b.ReadCloser.Read(buffer)
	return n, causeOf(b.ctx, err)
}

func (b *watchBody) Close() error {
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// causeOf replaces err with ctx's cause, if any, because "context canceled" explains nothing.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}
