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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/audit"
)

// Why a fault ends a watch: the cause with which it cancels the exchange.
var (
	errCut  = errors.New("the fault proxy cuts the connection")
	errGone = errors.New("the fault proxy sends 410 as an event")
)

// silence is such a cause too, but the client sees no end until the fault is over.
type silence struct{ *Fault }

func (*silence) Error() string { return "the fault proxy silences the watch" }

// watch is the body of the answer to a watch, as the client reads it.
type watch struct {
	*exchange
	proxy     *Proxy
	body      io.ReadCloser
	mediaType string
	arrivals  chan arrival
	event     []byte // the rest of the current one
	last      bool   // no event follows
	passed    int    // how many events came after the initial ones
}

// arrival is what the server has sent: an event, or the end of the watch.
type arrival struct {
	event   []byte
	at      time.Time
	err     error
	initial bool   // the event still lists the existing objects
	late    *Fault // nil, unless a fault delays it until due
	due     <-chan time.Time
}

// backlog is how many events of a watch may wait here, so that a delay doesn't add up.
const backlog = 1000

func (p *Proxy) follow(x *exchange, response *http.Response) *watch {
	w := &watch{exchange: x, proxy: p, body: response.Body, arrivals: make(chan arrival, backlog)}
	w.mediaType, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	go w.receive()
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

// receive reads events until one can't be read. It doesn't wait for the client, so that it knows
// when each event has come.
func (w *watch) receive() {
	stream := bufio.NewReader(w.body)
	initial := query(w.Request).Get("sendInitialEvents") == "true"
	for {
		event, err := readEvent(stream, w.mediaType)
		next := arrival{event: event, at: time.Now(), err: err, initial: initial}
		if !initial && err == nil {
			if rule := w.proxy.take(sent, w.exchange); rule != nil {
				next.late, next.due = rule.Fault, time.After(rule.delay)
				rule.hit()
			}
		}
		// The bookmark that ends the initial events has this annotation.
		initial = initial && !bytes.Contains(event, []byte(metav1.InitialEventsAnnotationKey))
		if err == nil {
			w.proxy.passesEvent(w, next, time.Time{})
		}
		select {
		case w.arrivals <- next:
		case <-w.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
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
	if w.isCut(0) {
		return nil, errCut
	}
	var next arrival
	select {
	case next = <-w.arrivals:
	case <-w.ctx.Done():
	}
	if next.late != nil {
		select {
		case <-next.due:
		case <-next.late.over:
		case <-w.ctx.Done():
		}
	}
	if cause := context.Cause(w.ctx); cause != nil {
		return w.interrupted(cause)
	}
	switch {
	case next.err != nil:
		return nil, next.err
	case next.initial:
	case w.isCut(w.passed):
		return nil, errCut
	default:
		w.passed++
	}
	w.proxy.passesEvent(w, next, time.Now())
	return next.event, nil
}

// isCut reports whether the watch's cut has ended it now. Another fault may have been quicker.
func (w *watch) isCut(passed int) bool {
	if w.cut == nil || w.cut.after != passed || w.cut.isOver() || !w.interrupt(errCut) {
		return false
	}
	w.cut.hit()
	return true
}

func (w *watch) interrupted(cause error) ([]byte, error) {
	switch cause {
	case errGone:
		w.last = true
		event, err := errorEvent(w.mediaType, statusOf(expired(w.exchange)))
		if now := time.Now(); err == nil {
			w.proxy.passesEvent(w, arrival{event: event, at: now}, now)
		}
		return event, err
	}
	if silent, ok := cause.(*silence); ok {
		select {
		case <-silent.over:
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
