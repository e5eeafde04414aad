// Faults of watches. They leave the connection alone, and whatever else goes over it.

package faultproxy

import "example.com/operators/scripts/internal/audit"

// ResetWatches is F1 for those who may lose no other request: the stream of each open watch that matches is reset (HTTP/2's
// RST_STREAM), as by a server that has run into trouble with it. client-go starts over after that, where it resumes after a
// cut. Hits: watches.
func (p *Proxy) ResetWatches(matches ...Match) *Fault {
	fault := newFault("ResetWatches")
	p.interruptOpen(fault, errReset, matches)
	return fault
}

// KeepResetting is to ResetWatches what KeepCutting is to CutWatches. Hits: watches.
func (p *Proxy) KeepResetting(after int, matches ...Match) *Fault {
	fault := newFault("KeepResetting")
	p.endEach(fault, after, errReset, matches...)
	p.interruptOpen(fault, errReset, matches)
	return fault
}

// GoneAsEvent is F2 in the stream: each open watch that matches gets an ERROR event with a 410 Status, and ends. Hits:
// watches.
func (p *Proxy) GoneAsEvent(matches ...Match) *Fault {
	fault := newFault("GoneAsEvent")
	p.interruptOpen(fault, errGone, matches)
	return fault
}

// GoneAsResponse is F2 as a response: each open watch that matches ends, and the next one for the same path that is to begin
// at a resourceVersion is answered 410, but no other after that. Hits: answers.
func (p *Proxy) GoneAsResponse(matches ...Match) *Fault {
	open := p.open(matches)
	var rules []*rule
	for _, w := range open {
		again := func(r audit.Request) bool {
			return r.Verb == "watch" && path(r) == path(w.Request) && resourceVersion(r) != ""
		}
		rules = append(rules, &rule{at: asked, matches: []Match{again}, left: 1, act: expired})
	}
	fault := p.enforce(newFault("GoneAsResponse"), rules...)
	for _, w := range open {
		w.interrupt(errEnd)
	}
	return fault
}

// Silence is F6b: each open watch that matches stays open and says nothing any more, no event, no bookmark, no end. The
// connection lives, and a new watch works. With Stop they end, in the ordinary way. Hits: watches.
func (p *Proxy) Silence(matches ...Match) *Fault {
	over := make(chan struct{})
	fault := newFault("Silence")
	fault.stop = func() { close(over) }
	p.interruptOpen(fault, &silence{over}, matches)
	return fault
}

func (p *Proxy) interruptOpen(fault *Fault, reason error, matches []Match) {
	for _, w := range p.open(matches) {
		if w.interrupt(reason) {
			fault.hit()
		}
	}
}
