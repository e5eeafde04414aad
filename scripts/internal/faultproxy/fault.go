// A fault. Its caller can count its hits and stop it. To the proxy, it is a set of rules: what
// happens to which of the coming requests.

package faultproxy

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"example.com/operators/scripts/internal/audit"
)

// Fault is a fault that was asked for. It counts its hits, so that a test can wait for them.
type Fault struct {
	name string
	stop func() // may be nil

	mutex   sync.Mutex
	hits    int
	next    chan struct{} // closed at the next hit
	stopped bool
}

func newFault(name string) *Fault {
	return &Fault{name: name, next: make(chan struct{})}
}

// Hits returns how many connections, watches or requests it has hit, as its method says.
func (f *Fault) Hits() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.hits
}

// Wait waits until the fault has hit so often, or ctx ends.
func (f *Fault) Wait(ctx context.Context, hits int) error {
	for {
		f.mutex.Lock()
		sofar, next := f.hits, f.next
		f.mutex.Unlock()
		if sofar >= hits {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("%s, want %d: %w", f, hits, context.Cause(ctx))
		}
	}
}

// Stop ends the fault: what it would still do, it won't. It may be called twice. What has been hit
// stays hit, but for Freeze and Silence.
func (f *Fault) Stop() {
	f.mutex.Lock()
	again := f.stopped
	f.stopped = true
	f.mutex.Unlock()
	if f.stop != nil && !again {
		f.stop()
	}
}

func (f *Fault) isOver() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.stopped
}

func (f *Fault) String() string { return fmt.Sprintf("%s (hits: %d)", f.name, f.Hits()) }

func (f *Fault) hit() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.hits++
	close(f.next)
	f.next = make(chan struct{})
}

// Match reports whether a fault is meant for a request. Where several are given, all of them have to
// agree; where none is, the fault is meant for everything. It must not call the Proxy.
type Match func(audit.Request) bool

// Resource matches requests for these resources. As in RBAC, foos/status is a resource of its own.
func Resource(names ...string) Match {
	return func(r audit.Request) bool { return slices.Contains(names, r.Resource) }
}

// Verb matches requests with one of these verbs, which are those of audit.Request.
func Verb(verbs ...string) Match {
	return func(r audit.Request) bool { return slices.Contains(verbs, r.Verb) }
}

func matchesAll(r audit.Request, matches []Match) bool {
	return !slices.ContainsFunc(matches, func(match Match) bool { return !match(r) })
}

// moment is the point in a request's way at which a rule acts.
type moment int

const (
	asked moment = iota // the request has come; act returns what to answer in the server's stead
	done                // the server has done it; an error of act keeps its answer from the client
	begun               // the server has accepted a watch
)

// rule is a fault that waits for its requests.
type rule struct {
	*Fault
	at      moment
	matches []Match
	skip    int // so many pass first
	left    int // so many are hit; negative: no end
	act     func(*exchange) error
	holds   bool // act blocks until the fault is over, so the hit counts before it
}

// forever is for rules that act until they are stopped.
const forever = -1

// enforce puts rules in force until they are used up or the fault is stopped. All are of one fault.
func (p *Proxy) enforce(fault *Fault, rules ...*rule) *Fault {
	fault.stop = func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.rules = slices.DeleteFunc(p.rules, func(r *rule) bool { return r.Fault == fault })
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, rule := range rules {
		rule.Fault = fault
		if rule.left != 0 {
			p.rules = append(p.rules, rule)
		}
	}
	return fault
}

// take returns the oldest rule for a request at this moment, or nil, and counts its use.
func (p *Proxy) take(at moment, x *exchange) *rule {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for i, rule := range p.rules {
		switch {
		case rule.at != at || !matchesAll(x.Request, rule.matches):
		case rule.skip > 0:
			rule.skip--
		default:
			if rule.left--; rule.left == 0 {
				p.rules = slices.Delete(p.rules, i, i+1)
			}
			return rule
		}
	}
	return nil
}

// doom cuts a watch in place of the event that follows after others; 0 cuts it at once.
type doom struct {
	*Fault
	after int
}
