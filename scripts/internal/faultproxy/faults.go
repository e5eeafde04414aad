// The faults. A connection fault hits everything on the connection. With HTTP/2, that is all of a
// client's requests, writes in flight included. A watch fault leaves the connection and its other
// requests alone. A single-request fault spares Leases and Events.

package faultproxy

import (
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/audit"
)

// KeepCutting is F1: it closes each connection that carries a watch, as a load balancer does that
// restarts, and then cuts every new watch until Stop. The client sees an unexpected EOF. A write in
// flight may or may not be done. Of a new watch it passes on that many events, and cuts instead of
// the next one. With 0 it cuts at once. Initial events (sendInitialEvents) always pass and don't
// count, because otherwise a client would never get all of them. Hits: watches.
func (p *Proxy) KeepCutting(after int) *Fault {
	fault := newFault("KeepCutting")
	p.enforce(fault, &rule{at: begun, left: Unlimited, act: func(x *exchange) error {
		x.cut = &cut{fault, after}
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

// Freeze is F6a: no byte passes over any present connection, in either direction, and pings get no
// answer, but both ends believe that it is open. New connections work, so a client that notices can
// reconnect. client-go notices after HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS
// (by default 30 and 15). Stop thaws the connections, and their requests continue. Hits:
// connections.
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

// Down is F3 as the client sees it: all connections are closed, and new ones too, until Stop. Hits:
// connections.
func (p *Proxy) Down() *Fault {
	fault := newFault("Down")
	fault.stop = func() { p.clients.refuse(nil) }
	p.clients.refuse(fault)
	for _, open := range p.clients.all() {
		open.Close()
		fault.hit()
	}
	return fault
}

// GoneAsEvent is the end of F2: each open watch that matches gets an ERROR event with a 410
// Status, and ends. From then on, a client that resumes such a watch without a new list is answered
// 410. Hits: watches.
func (p *Proxy) GoneAsEvent(matches ...Match) *Fault {
	p.forget(newFault("GoneAsEvent, afterwards"), p.open(matches))
	fault := newFault("GoneAsEvent")
	p.interruptOpen(fault, errGone, matches)
	return fault
}

// forget makes the server forget the history of these watches.
func (p *Proxy) forget(fault *Fault, watches []*watch) *Fault {
	paths := sets.New[string]()
	for _, w := range watches {
		paths.Insert(path(w.Request))
	}
	var rules []*rule
	for path := range paths {
		rules = append(rules, &rule{at: asked, matches: []Match{asksForHistory(path)}, left: Unlimited, act: expired})
	}
	return p.enforce(fault, rules...)
}

// asksForHistory matches the watches of a path that resume where they were, until a client has
// listed.
func asksForHistory(of string) Match {
	listed := false // safe without a mutex, because take calls one Match at a time
	return func(r audit.Request) bool {
		if path(r) != of {
			return false
		}
		listed = listed || r.Verb == "list" || r.Verb == "watch" && startsWithObjects(r)
		return r.Verb == "watch" && !listed
	}
}

// startsWithObjects reports whether a watch first asks for all objects, so that it needs no
// history.
func startsWithObjects(r audit.Request) bool {
	return resourceVersion(r) == "" || query(r).Get("sendInitialEvents") == "true"
}

// Silence is F6b: each open watch that matches stays open, but gets no event, no bookmark and no
// end. The connection and new watches work. Stop ends the silent watches, as a server does. Hits:
// watches.
func (p *Proxy) Silence(matches ...Match) *Fault {
	fault := newFault("Silence")
	p.interruptOpen(fault, &silence{fault}, matches)
	return fault
}

// Hang is F6c: requests that match get no response until Stop, or until the client gives up. The
// connection and its other requests work. Hits: requests.
func (p *Proxy) Hang(matches ...Match) *Fault {
	fault := newFault("Hang")
	return p.enforce(fault, &rule{at: asked, matches: matches, left: Unlimited, holds: true, act: func(x *exchange) error {
		select {
		case <-fault.over:
		case <-x.ctx.Done():
		}
		return failure(x, http.StatusGatewayTimeout)
	}})
}

// Delay is F9: each event of the watches that match, present and future, reaches the client late by
// that time. The events stay in order, and a delay doesn't add to the one before. Initial events and
// all other requests are on time. Stop lets the waiting events through. Hits: events, as
// they come from the server.
func (p *Proxy) Delay(by time.Duration, matches ...Match) *Fault {
	return p.enforce(newFault("Delay"), &rule{at: sent, matches: matches, left: Unlimited, delay: by})
}

func (p *Proxy) interruptOpen(fault *Fault, reason error, matches []Match) {
	for _, w := range p.open(matches) {
		if w.interrupt(reason) {
			fault.hit()
		}
	}
}

// FailWrites is F4: the next n writes that match, or with Unlimited all until Stop, are answered with
// this HTTP status code and don't reach the server. 500, 409 and 429 look like the server's own. 429 asks the client to retry in a
// second, which client-go does by itself. Hits: answers.
func (p *Proxy) FailWrites(n, code int, matches ...Match) *Fault {
	fault := newFault("FailWrites")
	return p.enforce(fault, &rule{at: asked, matches: writes(matches), left: n, act: func(x *exchange) error {
		return failure(x, code)
	}})
}

// Forbid is F8: requests that match are answered 403, until Stop. As with RBAC, a watch that is
// open stays open, and a subresource is a separate resource. Hits: answers.
func (p *Proxy) Forbid(matches ...Match) *Fault {
	fault := newFault("Forbid")
	notSpared := func(r audit.Request) bool { return !spared(r) }
	return p.enforce(fault, &rule{at: asked, matches: slices.Concat(matches, []Match{notSpared}), left: Unlimited, act: forbidden})
}

// AfterWrite calls do once, after the server has done the k-th matching write from now. The client
// gets its answer when do returns, which it must. For F5, do kills the program between two of its
// writes. Writes that the server refuses don't count. Hits: 1, when do has returned.
func (p *Proxy) AfterWrite(k int, do func(audit.Request), matches ...Match) *Fault {
	fault := newFault("AfterWrite")
	return p.enforce(fault, &rule{at: done, matches: writes(matches), skip: k - 1, left: 1, act: func(x *exchange) error {
		do(x.Request)
		return nil
	}})
}

func writes(matches []Match) []Match { return slices.Concat(matches, []Match{isWrite}) }
