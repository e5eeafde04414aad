// A watch that passes through the proxy event by event, so that a fault acts between two events and
// never within one. status.go finds where events end.

package faultproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/audit"
)

// Why a fault ends a watch: the cause with which it cancels the exchange.
var (
	errCut  = errors.New("the fault proxy cuts the connection")
	errGone = errors.New("the fault proxy sends 410 as an event")
	errEnd  = errors.New("the fault proxy ends the watch as the server would")
)

// silence is such a cause too, but the client sees no end until ended is closed.
type silence struct{ ended chan struct{} }

func (*silence) Error() string { return "the fault proxy silences the watch" }

// watch is the body of the answer to a watch, as the client reads it.
type watch struct {
	*exchange
	proxy     *Proxy
	body      io.ReadCloser
	stream    *bufio.Reader
	mediaType string
	event     []byte // the rest of the current one
	last      bool   // no event follows
	initial   bool   // the events still list the existing objects
	passed    int    // how many events came after those
}

func (p *Proxy) follow(x *exchange, response *http.Response) *watch {
	w := &watch{exchange: x, proxy: p, body: response.Body, stream: bufio.NewReader(response.Body)}
	w.mediaType, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	w.initial = query(x.Request).Get("sendInitialEvents") == "true"
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.watches[w] = struct{}{}
	return w
}

// Watches returns how many accepted watches haven't ended. That includes silenced ones, and those
// on a frozen connection, even if the client has given it up.
func (p *Proxy) Watches() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.watches)
}

func (p *Proxy) open(matches []Match) []*watch {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Keys(p.watches)), func(w *watch) bool { return !matchesAll(w.Request, matches) })
}

// interrupt ends a watch with that cause. It returns false if the watch had ended already.
func (w *watch) interrupt(reason error) bool {
	w.proxy.mutex.Lock()
	defer w.proxy.mutex.Unlock()
	if w.ctx.Err() != nil {
		return false
	}
	w.end(reason)
	return true
}

func (w *watch) Close() error {
	w.proxy.mutex.Lock()
	delete(w.proxy.watches, w)
	w.proxy.mutex.Unlock()
	return w.body.Close()
}

func (w *watch) Read(buffer []byte) (int, error) {
	if len(w.event) == 0 {
		if w.last {
			return 0, io.EOF
		}
		var err error
		if w.event, err = w.next(); err != nil {
			return 0, err
		}
	}
	n := copy(buffer, w.event)
	w.event = w.event[n:]
	return n, nil
}

// next returns the next event for the client: the server's, or what a fault makes of it.
func (w *watch) next() ([]byte, error) {
	if w.meetsDoom(0) {
		return nil, errCut
	}
	event, err := readEvent(w.stream, w.mediaType)
	if cause := context.Cause(w.ctx); cause != nil {
		return w.interrupted(cause)
	}
	switch {
	case err != nil:
		return nil, err
	case w.initial:
		// The bookmark that ends the initial events has this annotation.
		w.initial = !bytes.Contains(event, []byte(metav1.InitialEventsAnnotationKey))
	case w.meetsDoom(w.passed):
		return nil, errCut
	default:
		w.passed++
	}
	return event, nil
}

// meetsDoom reports whether the watch's doom has ended it now. Another fault may have been quicker.
func (w *watch) meetsDoom(passed int) bool {
	if w.doom == nil || w.doom.after != passed || w.doom.isOver() || !w.interrupt(errCut) {
		return false
	}
	w.doom.hit()
	return true
}

func (w *watch) interrupted(cause error) ([]byte, error) {
	switch cause {
	case errEnd:
		return nil, io.EOF
	case errGone:
		w.last = true
		return errorEvent(w.mediaType, statusOf(expired(w.exchange)))
	}
	if silent, ok := cause.(*silence); ok {
		select {
		case <-silent.ended:
			return nil, io.EOF
		case <-w.client.Done():
		}
	}
	return nil, cause
}

// resourceVersion returns where in history a watch begins, or "" if the server may choose.
func resourceVersion(r audit.Request) string {
	if version := query(r).Get("resourceVersion"); version != "0" {
		return version
	}
	return ""
}

func path(r audit.Request) string {
	path, _, _ := strings.Cut(r.URI, "?")
	return path
}

func query(r audit.Request) url.Values {
	_, query, _ := strings.Cut(r.URI, "?")
	values, _ := url.ParseQuery(query) // leaves out what it can't parse
	return values
}
