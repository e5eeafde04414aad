package faultproxy

// What all faults share, and the rules that most of them consist of: what happens to which requests.
// The other faults act on the client's connections.

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/audit"
)

// Fault is a fault in effect. It counts its hits, so that a test can wait for them.
type Fault struct {
	name string
	ctx  context.Context // ends with Stop
	stop context.CancelFunc
	hits atomic.Int32
}

func newFault(name string) *Fault {
	fault := &Fault{name: name}
	fault.ctx, fault.stop = context.WithCancel(context.Background())
	return fault
}

// Hits returns how many connections, watches or requests the fault has hit, as its method says.
func (f *Fault) Hits() int { return int(f.hits.Load()) }

func (f *Fault) hit() { f.hits.Add(1) }

// Wait waits until the fault has that many hits, or ctx ends.
func (f *Fault) Wait(ctx context.Context, hits int) error {
	hasHit := func(context.Context) (bool, error) { return f.Hits() >= hits, nil }
	if wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, hasHit) != nil {
		return fmt.Errorf("%s has hit %d times, want %d: nothing that passed the proxy was what it is about: %w",
			f.name, f.Hits(), hits, context.Cause(ctx))
	}
	return nil
}

// Stop ends the fault: it hits nothing more, and releases what it holds. It may be called twice.
func (f *Fault) Stop() { f.stop() }

func (f *Fault) isOver() bool { return f.ctx.Err() != nil }

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
		if rule.at == at && !rule.isOver() && matchesAll(x.Request, rule.matches) {
			rule.hit()
			return rule
		}
	}
	return nil
}
