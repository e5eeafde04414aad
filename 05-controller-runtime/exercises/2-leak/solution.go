//go:build solution

// Package leak is a controller that probes the pages of Foos, and writes a report about each Foo.
package leak

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Prober calls Probe every minute for each Foo that exists.
type Prober struct {
	Client client.Reader
	Probe  func(ctx context.Context, foo types.NamespacedName)

	mu      sync.Mutex
	foos    map[types.NamespacedName]*probed // only those that exist
	history []string                         // the last mostHistory lines
}

// probed is everything that belongs to one Foo, so that it goes with the Foo.
type probed struct {
	stop       context.CancelFunc // ends its goroutine
	generation int64
	report     string
}

const mostHistory = 100

// Reconcile begins to probe the Foo with that key, and writes its report. If the Foo is gone, it
// lets go of everything that belongs to it.
func (p *Prober) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	err := p.Client.Get(ctx, req.NamespacedName, foo)
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.foos[req.NamespacedName]
	switch {
	case apierrors.IsNotFound(err):
		if known != nil {
			known.stop()
			delete(p.foos, req.NamespacedName)
		}
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("get Foo: %w", err)
	}
	if known == nil {
		if p.foos == nil {
			p.foos = map[types.NamespacedName]*probed{}
		}
		probing, stop := context.WithCancel(ctx)
		known = &probed{stop: stop}
		p.foos[req.NamespacedName] = known
		go p.probeEachMinute(probing, req.NamespacedName)
	}
	if known.report == "" || known.generation != foo.Generation {
		known.generation, known.report = foo.Generation, report(foo)
	}
	p.history = append(p.history, fmt.Sprintf("reconciled %s, generation %d", req, foo.Generation))
	p.history = slices.Delete(p.history, 0, max(0, len(p.history)-mostHistory))
	return ctrl.Result{}, nil
}

// probeEachMinute probes until ctx ends.
func (p *Prober) probeEachMinute(ctx context.Context, foo types.NamespacedName) {
	for {
		select {
		case <-time.After(time.Minute):
			p.Probe(ctx, foo)
		case <-ctx.Done():
			return
		}
	}
}

// Report returns the report about that generation of a Foo, or "" if it isn't the generation that
// was reconciled last.
func (p *Prober) Report(foo types.NamespacedName, generation int64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.foos[foo]; known != nil && known.generation == generation {
		return known.report
	}
	return ""
}

// History returns what Reconcile has done lately, the last 100 lines of it, for a debug page.
func (p *Prober) History() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.history)
}
