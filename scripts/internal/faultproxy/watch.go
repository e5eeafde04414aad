package faultproxy

// A watch that passes through the proxy event by event, so that a fault acts between two events and
// never within one. status.go finds where events end.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/audit"
)

var (
	errCut  = errors.New("the fault proxy cuts the connection")
	errGone = errors.New("the fault proxy sends 410 as an event") // why a fault ends an exchange
)

// watch is the body of the answer to a watch, as the client reads it.
type watch struct {
	*exchange
	proxy     *Proxy
	body      io.ReadCloser
	mediaType string
	arrivals  chan arrival
	event     []byte // the rest of the current one
	last      bool   // no event follows
	cut       *Fault // cuts the connection instead of the second event after the initial ones; may be nil
}

// arrival is what the server has sent: an event, or the end of the watch.
type arrival struct {
	event []byte
	at    time.Time
	err   error
	late  *Fault // nil, unless a fault delays it until due
	due   <-chan time.Time
}

// backlog is how many events of a watch may wait here, so that a delay doesn't add up.
const backlog = 1000

func (p *Proxy) follow(x *exchange) *watch {
	w := &watch{exchange: x, proxy: p, body: x.response.Body, arrivals: make(chan arrival, backlog)}
	w.mediaType, _, _ = mime.ParseMediaType(x.response.Header.Get("Content-Type"))
	p.mutex.Lock()
	defer p.mutex.Unlock()
	w.cut = p.cutting
	p.watches[w] = struct{}{}
	go w.receive()
	return w
}

// open returns the accepted watches that match and haven't ended. That includes those on a frozen
// connection, even if the client has given it up.
func (p *Proxy) open(matches ...Match) []*watch {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Keys(p.watches)), func(w *watch) bool {
		return !matchesAll(w.Request, matches)
	})
}

// receive reads events until one can't be read. It doesn't wait for the client, so that it knows
// when each event has come.
func (w *watch) receive() {
	stream := bufio.NewReader(w.body)
	initial := w.Query().Get("sendInitialEvents") == "true"
	passed := false // an event after the initial ones
	for {
		event, err := readEvent(stream, w.mediaType)
		next := arrival{event: event, at: time.Now(), err: err}
		if err == nil {
			w.proxy.passesEvent(w, next, time.Time{})
		}
		if !initial && err == nil {
			if rule := w.proxy.take(sent, w.exchange); rule != nil {
				next.late, next.due = rule.Fault, time.After(rule.delay)
			}
			if passed && w.cut != nil && !w.cut.isOver() {
				w.cut.hit()
				next.err = errCut
			}
			passed = true
		}
		// The bookmark that ends the initial events has this annotation.
		initial = initial && !bytes.Contains(event, []byte(metav1.InitialEventsAnnotationKey))
		select {
		case w.arrivals <- next:
		case <-w.ctx.Done():
			return
		}
		if next.err != nil {
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
	var next arrival
	select {
	case next = <-w.arrivals:
	case <-w.ctx.Done():
	}
	if next.late != nil {
		select {
		case <-next.due:
		case <-next.late.ctx.Done():
		case <-w.ctx.Done():
		}
	}
	switch cause := context.Cause(w.ctx); {
	case cause == errGone:
		return w.gone()
	case cause != nil:
		return nil, cause
	case next.err != nil:
		return nil, next.err
	}
	w.proxy.passesEvent(w, next, time.Now())
	return next.event, nil
}

// gone returns the last event of a watch whose history the server has forgotten.
func (w *watch) gone() ([]byte, error) {
	w.last = true
	event, err := errorEvent(w.mediaType, statusOf(expired(w.exchange)))
	if err == nil {
		now := time.Now()
		w.proxy.passesEvent(w, arrival{event: event, at: now}, now)
	}
	return event, err
}

// resourceVersion returns where in history a watch begins, or "" if the server may choose.
func resourceVersion(r audit.Request) string {
	if version := r.Query().Get("resourceVersion"); version != "0" {
		return version
	}
	return ""
}

func path(r audit.Request) string {
	path, _, _ := strings.Cut(r.URI, "?")
	return path
}
