// What a fault is, seen from whoever asks for it: something that counts its hits and can be stopped; and how it says which
// requests it is meant for.

package faultproxy

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"example.com/operators/scripts/internal/audit"
)

// Fault is a fault that was asked for. It counts what it hits: a test waits for that, instead of hoping.
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

// Hits returns how much the fault has hit so far: connections, watches or requests, as its method says.
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

// Stop ends the fault: what it would still do, it won't. It may be called twice. What has been hit stays hit, but for
// Freeze and Silence.
func (f *Fault) Stop() {
	f.mutex.Lock()
	again := f.stopped
	f.stopped = true
	f.mutex.Unlock()
	if f.stop != nil && !again {
		f.stop()
	}
}

// isOver tells whether the fault was stopped.
func (f *Fault) isOver() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.stopped
}

// String names the fault and says what it has done.
func (f *Fault) String() string { return fmt.Sprintf("%s (hits: %d)", f.name, f.Hits()) }

func (f *Fault) hit() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.hits++
	close(f.next)
	f.next = make(chan struct{})
}

// Match tells whether a fault is meant for a request. Where several are given, all of them have to agree; where none is, the
// fault is meant for everything. It must not call the Proxy.
type Match func(audit.Request) bool

// Resource matches requests for one of these resources. A subresource is a resource of its own, as in RBAC: foos/status.
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
