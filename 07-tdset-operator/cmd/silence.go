// A deadline for watches: for production, and skipped at a first reading. client-go notices a connection that is dead, by HTTP/2's
// pings, but not one that lives while the watch on it has fallen silent, as behind some proxies. Chapter 01's own Reflector
// has such a deadline; here it is put under client-go's, between it and the network.

package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// errSilent is reported as the timeout that it is: then client-go goes on from where the watch got to, without a word.
var errSilent = os.ErrDeadlineExceeded

// limitSilence makes config's clients give up each watch that says nothing for as long as limit. A live one sends a bookmark
// about every minute.
func limitSilence(config *rest.Config, limit time.Duration) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return impatient{next, limit} })
}

// impatient is a RoundTripper that waits for a watch's next bytes no longer than limit.
type impatient struct {
	next  http.RoundTripper
	limit time.Duration
}

// RoundTrip sends request. If it is a watch, the deadline holds for the answer's headers and for each read of its body.
func (i impatient) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("watch") != "true" {
		return i.next.RoundTrip(request)
	}
	ctx, giveUp := context.WithCancelCause(request.Context())
	deadline := time.AfterFunc(i.limit, func() {
		klog.InfoS("Giving up a watch that says nothing, not even a bookmark", "path", request.URL.Path, "for", i.limit)
		giveUp(errSilent)
	})
	response, err := i.next.RoundTrip(request.WithContext(ctx))
	deadline.Stop()
	if err != nil {
		err = cause(ctx, err)
		giveUp(nil)
		return nil, err
	}
	response.Body = &watchBody{response.Body, ctx, giveUp, deadline, i.limit}
	return response, nil
}

// watchBody is the body of a watch's answer. The time between reads, in which events are handled, doesn't count.
type watchBody struct {
	io.ReadCloser
	ctx      context.Context
	giveUp   context.CancelCauseFunc
	deadline *time.Timer
	limit    time.Duration
}

func (b *watchBody) Read(buffer []byte) (int, error) {
	b.deadline.Reset(b.limit)
	defer b.deadline.Stop()
	n, err := b.ReadCloser.Read(buffer)
	if err != nil {
		err = cause(b.ctx, err)
	}
	return n, err
}

func (b *watchBody) Close() error {
	b.giveUp(nil)
	return b.ReadCloser.Close()
}

// cause returns why ctx was cancelled, if it was, and err otherwise: "context canceled" explains nothing.
func cause(ctx context.Context, err error) error {
	if reason := context.Cause(ctx); reason != nil {
		return reason
	}
	return err
}
