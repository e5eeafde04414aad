// The faults. A connection fault hits everything on the connection: with HTTP/2, all of a client's
// requests, writes in flight included. A watch fault leaves the connection and its other requests
// alone. A single-request fault spares Leases and Events.

package faultproxy

import (
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/audit"
)

// CutWatches is F1: each connection that carries a watch is closed without a word, as by a load
// balancer that is restarted. The client sees an unexpected EOF. A write in flight may have been
// done or not. Hits: watches.
func (p *Proxy) CutWatches() *Fault {
	fault := newFault("CutWatches")
	p.cutOpen(fault)
	return fault
}

// KeepCutting is F1 again and again: what CutWatches does now, and then, until Stop, to every watch
// that begins. So many events pass before the cut comes, in place of the next one; with 0 it comes
// at once. Initial events, which a client asks for with sendInitialEvents, pass as well and don't
// count, else it would never get to the end of them. Hits: watches.
func (p *Proxy) KeepCutting(after int) *Fault {
	fault := newFault("KeepCutting")
	p.enforce(fault, &rule{at: begun, left: forever, act: func(x *exchange) error {
		x.doom = &doom{fault, after}
		return nil
	}})
	p.cutOpen(fault)
	return fault
}

func (p *Proxy) cutOpen(fault *Fault) {
	var carriers []*connection
	for _, w := range p.open(nil) {
		if w.connection.isOpen() {
			carriers = append(carriers, w.connection)
			fault.hit()
		}
	}
	for _, carrier := range carriers {
		carrier.Close()
	}
}

// Freeze is F6a: no byte goes over any of the present connections any more, in either direction,
// while both ends believe them open; pings get no answer. New connections work, so that a client
// who notices can help itself: client-go does after HTTP2_READ_IDLE_TIMEOUT_SECONDS and
// HTTP2_PING_TIMEOUT_SECONDS (30 and 15, if they aren't set). Stop thaws them, and what was under
// way goes on. Hits: connections.
func (p *Proxy) Freeze() *Fault {
	fault := newFault("Freeze")
	var frozen []*connection
	for _, open := range p.clients.all() {
		if open.freeze() {
			frozen = append(frozen, open)
			fault.hit()
		}
	}
	fault.stop = func() {
		for _, connection := range frozen {
			connection.thaw()
		}
	}
	return fault
}

// GoneAsEvent is F2 in the stream: each open watch gets an ERROR event with a 410 Status, and ends.
// Who goes on from where it was is answered 410 from then on, until it has listed again. Hits:
// watches.
func (p *Proxy) GoneAsEvent() *Fault {
	p.forget(newFault("GoneAsEvent, afterwards"), p.open(nil), true)
	fault := newFault("GoneAsEvent")
	p.interruptOpen(fault, errGone, nil)
	return fault
}

// GoneAsResponse is F2 as a response: each open watch ends, and who goes on from where it was is
// answered 410, until it has listed again. Hits: answers.
func (p *Proxy) GoneAsResponse() *Fault {
	open := p.open(nil)
	fault := p.forget(newFault("GoneAsResponse"), open, false)
	for _, w := range open {
		w.interrupt(errEnd)
	}
	return fault
}

// forget has the server forget what these watches have seen. Their clients may know that already.
func (p *Proxy) forget(fault *Fault, watches []*watch, told bool) *Fault {
	paths := sets.New[string]()
	for _, w := range watches {
		paths.Insert(path(w.Request))
	}
	var rules []*rule
	for path := range paths {
		rules = append(rules, &rule{at: asked, matches: []Match{asksForHistory(path, told)}, left: forever, act: expired})
	}
	return p.enforce(fault, rules...)
}

// asksForHistory matches the watches of a path that go on from where they were, until they who were
// told of the 410 have listed. What was listed before that, for whatever reason, is nothing to go
// on from.
func asksForHistory(of string, told bool) Match {
	listed := false // take calls one Match at a time
	return func(r audit.Request) bool {
		switch {
		case path(r) != of:
			return false
		case r.Verb == "list", r.Verb == "watch" && startsWithObjects(r):
			listed = listed || told
			return false
		case r.Verb != "watch" || listed:
			return false
		}
		told = true
		return true
	}
}

// startsWithObjects reports whether a watch first asks for all objects: then it needs no history.
func startsWithObjects(r audit.Request) bool {
	return resourceVersion(r) == "" || query(r).Get("sendInitialEvents") == "true"
}

// Silence is F6b: each open watch that matches stays open and says nothing any more, no event, no
// bookmark, no end. The connection lives, and a new watch works. With Stop they end, in the
// ordinary way. Hits: watches.
func (p *Proxy) Silence(matches ...Match) *Fault {
	over := make(chan struct{})
	fault := newFault("Silence")
	fault.stop = func() { close(over) }
	p.interruptOpen(fault, &silence{over}, matches)
	return fault
}

// Hang is F6c: requests that match get no response until Stop, or until the client gives up. The
// connection stays alive, and its other requests are answered. Hits: requests.
func (p *Proxy) Hang(matches ...Match) *Fault {
	over := make(chan struct{})
	fault := newFault("Hang")
	p.enforce(fault, &rule{at: asked, matches: matches, left: forever, holds: true, act: func(x *exchange) error {
		select {
		case <-over:
		case <-x.ctx.Done():
		}
		return failure(x, http.StatusGatewayTimeout)
	}})
	withdraw := fault.stop
	fault.stop = func() {
		withdraw()
		close(over)
	}
	return fault
}

func (p *Proxy) interruptOpen(fault *Fault, reason error, matches []Match) {
	for _, w := range p.open(matches) {
		if w.interrupt(reason) {
			fault.hit()
		}
	}
}

// FailWrites is F4: the next n writes that match are answered with this HTTP status code and don't
// reach the server. 500, 409 and 429 look as the server makes them; 429 asks to come back in a
// second, which client-go does by itself. Hits: answers.
func (p *Proxy) FailWrites(n, code int, matches ...Match) *Fault {
	fault := newFault("FailWrites")
	return p.enforce(fault, &rule{at: asked, matches: writes(matches), left: n, act: func(x *exchange) error {
		return failure(x, code)
	}})
}

// Forbid is F8: requests that match are answered 403, until Stop gives the permission back. As with
// RBAC, a watch that is open stays so, and a subresource is a resource of its own. Hits: answers.
func (p *Proxy) Forbid(matches ...Match) *Fault {
	fault := newFault("Forbid")
	notSpared := func(r audit.Request) bool { return !spared(r) }
	return p.enforce(fault, &rule{at: asked, matches: slices.Concat(matches, []Match{notSpared}), left: forever, act: forbidden})
}

// AfterWrite calls do once, after the k-th write from now that matches: the server has done it, and
// the client learns of it when do returns, which it must. It is for F5, where do kills the program
// between two of its writes. Writes that the server refuses don't count. Hits: 1, when do has
// returned.
func (p *Proxy) AfterWrite(k int, do func(audit.Request), matches ...Match) *Fault {
	fault := newFault("AfterWrite")
	return p.enforce(fault, &rule{at: done, matches: writes(matches), skip: k - 1, left: 1, act: func(x *exchange) error {
		do(x.Request)
		return nil
	}})
}

func writes(matches []Match) []Match { return slices.Concat(matches, []Match{isWrite}) }
