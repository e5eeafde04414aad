// What all faults share. To the proxy, a fault is a set of rules: what happens to which requests.

package faultproxy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/operators/scripts/internal/audit"
)

// Fault is a fault in effect. It counts its hits, so that a test can wait for them.
type Fault struct {
	name string
	stop func()        // may be nil
	over chan struct{} // closed by Stop
	once sync.Once     // for Stop

	mutex sync.Mutex
	hits  int
	next  chan struct{} // closed at the next hit
}

func newFault(name string) *Fault {
	return &Fault{name: name, over: make(chan struct{}), next: make(chan struct{})}
}

// Hits returns how many connections, watches or requests the fault has hit, as its method says.
func (f *Fault) Hits() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.hits
}

// Wait waits until the fault has that many hits, or ctx ends.
func (f *Fault) Wait(ctx context.Context, hits int) error {
	for {
		f.mutex.Lock()
		soFar, next := f.hits, f.next
		f.mutex.Unlock()
		if soFar >= hits {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("%s, want %d: nothing that passed the proxy was what it is about: %w",
				f, hits, context.Cause(ctx))
		}
	}
}

// Stop ends the fault: it hits nothing more, and releases what it holds. It may be called twice.
func (f *Fault) Stop() {
	f.once.Do(func() {
		if f.stop != nil {
			f.stop()
		}
		close(f.over)
	})
}

func (f *Fault) isOver() bool {
	select {
	case <-f.over:
		return true
	default:
		return false
	}
}

func (f *Fault) String() string { return fmt.Sprintf("%s (hits: %d)", f.name, f.Hits()) }

func (f *Fault) hit() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.hits++
	close(f.next)
	f.next = make(chan struct{})
}

// Match reports whether a fault applies to a request. If a fault has several, all must agree; if it
// has none, it applies to every request. A Match must not call the Proxy.
type Match func(audit.Request) bool

// Resource matches requests for these resources. As in RBAC, foos/status is a separate resource.
func Resource(names ...string) Match {
	return func(r audit.Request) bool { return slices.Contains(names, r.Resource) }
}

var changesObjects Match = audit.Request.ChangesObjects

func matchesAll(r audit.Request, matches []Match) bool {
	return !slices.ContainsFunc(matches, func(match Match) bool { return !match(r) })
}

// stage is when a rule acts on a request.
type stage int

const (
	asked    stage = iota // the request has arrived; act returns the answer, and the server gets no request
	answered              // the server has done it; if act fails, the client gets no answer
	sent                  // the server has sent an event of a watch, after the initial ones
)

// rule is what a fault does to the requests that match.
type rule struct {
	*Fault
	at      stage
	matches []Match
	act     func(*exchange) error
	delay   time.Duration // of an event, instead of act
}

// enforce puts a fault's rules in force until the fault is stopped.
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
		p.rules = append(p.rules, rule)
	}
	return fault
}

// take returns the oldest rule for a request at this stage, and counts a hit. It returns nil if there
// is none.
func (p *Proxy) take(at stage, x *exchange) *rule {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, rule := range p.rules {
		if rule.at == at && matchesAll(x.Request, rule.matches) {
			rule.hit()
			return rule
		}
	}
	return nil
}
