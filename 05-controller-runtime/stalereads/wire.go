// The connection between a controller and the API server: it counts the requests, and delays the
// events of watches, so that the cache is behind. All other requests pass at once.

package main

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// wire wraps the RoundTrippers of a program, which are the place for anything that concerns every
// request.
type wire struct {
	behind time.Duration // how late each event arrives

	mutex  sync.Mutex
	counts counts
	last   time.Time // when the last write was answered
}

// counts are the answered requests, without watches. Refused writes count as writes too.
type counts struct{ reads, writes, refused int }

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper { return wired{next, w} }

// wired is one of a program's RoundTrippers. All of them count together.
type wired struct {
	next http.RoundTripper
	*wire
}

// WrappedRoundTripper lets client-go cancel requests that take longer than a client's Timeout.
func (w wired) WrappedRoundTripper() http.RoundTripper { return w.next }

// RoundTrip sends request.
func (w wired) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.next.RoundTrip(request)
	switch {
	case err != nil:
		return nil, err
	case request.URL.Query().Get("watch") == "true":
		response.Body = delayed(response.Body, w.behind)
	default:
		w.count(request.Method, response.StatusCode)
	}
	return response, nil
}

func (w *wire) count(method string, code int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if method == http.MethodGet {
		w.counts.reads++
		return
	}
	w.counts.writes++
	w.last = time.Now()
	if code == http.StatusConflict {
		w.counts.refused++
	}
}

// settle waits until nothing has been written for that time, and returns what was counted. It
// counts from 0 again.
func (w *wire) settle(quiet time.Duration) counts {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.last = time.Now()
	for idle := time.Duration(0); idle < quiet; idle = time.Since(w.last) {
		w.mutex.Unlock()
		time.Sleep(quiet - idle)
		w.mutex.Lock()
	}
	counted := w.counts
	w.counts = counts{}
	return counted
}

// delayedBody is the body of a watch's response.
type delayedBody struct {
	io.ReadCloser // reads what has been due
	body          io.Closer
}

func (b delayedBody) Close() error {
	b.ReadCloser.Close()
	return b.body.Close()
}

// delayed returns a body whose bytes arrive late, in the same order. They are read as soon as the
// server sends them, so a delay doesn't add to the one before.
func delayed(body io.ReadCloser, by time.Duration) io.ReadCloser {
	type piece struct {
		bytes []byte
		due   time.Time
		err   error
	}
	pieces := make(chan piece, 1000)
	reader, writer := io.Pipe()
	go func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 32<<10)
			n, err := body.Read(buffer)
			pieces <- piece{buffer[:n], time.Now().Add(by), err}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		for p := range pieces {
			time.Sleep(time.Until(p.due))
			writer.Write(p.bytes) // fails once the client has left; then the rest is only drained
			if p.err != nil {
				writer.CloseWithError(p.err)
			}
		}
	}()
	return delayedBody{reader, body}
}
