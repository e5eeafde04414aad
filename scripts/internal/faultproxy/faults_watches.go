// Faults of watches. They leave the connection alone, and whatever else goes over it.

package faultproxy

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/audit"
)

// GoneAsEvent is F2 in the stream: each open watch gets an ERROR event with a 410 Status, and ends. Who goes on from where it
// was is answered 410 from then on, until it has listed again. Hits: watches.
func (p *Proxy) GoneAsEvent() *Fault {
	p.forget(newFault("GoneAsEvent, afterwards"), p.open(nil), true)
	fault := newFault("GoneAsEvent")
	p.interruptOpen(fault, errGone, nil)
	return fault
}

// GoneAsResponse is F2 as a response: each open watch ends, and who goes on from where it was is answered 410, until it has listed
// again. Hits: answers.
func (p *Proxy) GoneAsResponse() *Fault {
	open := p.open(nil)
	fault := p.forget(newFault("GoneAsResponse"), open, false)
	for _, w := range open {
		w.interrupt(errEnd)
	}
	return fault
}

// forget has the server know nothing any more of the history that these watches have seen. Who follows them may have been told of that
// already.
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

// asksForHistory matches the watches of a path that go on from where they were, until they who were told of the 410 have listed. What was listed
// before that, for whatever reason, is nothing to go on from.
func asksForHistory(of string, told bool) Match {
	listed := false // take calls one Match at a time
	return func(r audit.Request) bool {
		switch {
		case path(r) != of:
			return false
		case r.Verb == "list", r.Verb == "watch" && beginsAnew(r):
			listed = listed || told
			return false
		case r.Verb != "watch" || listed:
			return false
		}
		told = true
		return true
	}
}

// beginsAnew tells whether a watch asks for the objects as they are now, before what happens to them: then it needs no history.
func beginsAnew(r audit.Request) bool {
	return resourceVersion(r) == "" || query(r).Get("sendInitialEvents") == "true"
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
