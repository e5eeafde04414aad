//go:build !solution

// Package leak is a controller that probes the pages of Foos, and writes a report about each Foo.
package leak

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	probed  map[types.NamespacedName]bool
	reports map[string]string // by Foo and generation, so that each is written only once
	history []string
}

// Reconcile begins to probe the Foo with that key, and writes its report.
func (p *Prober) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// YOUR WORK: it does what it should, but its memory grows forever.
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := p.Client.Get(ctx, req.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.probed == nil {
		p.probed, p.reports = map[types.NamespacedName]bool{}, map[string]string{}
	}
	if !p.probed[req.NamespacedName] {
		p.probed[req.NamespacedName] = true
		go p.probeEachMinute(ctx, req.NamespacedName)
	}
	key := fmt.Sprintf("%s@%d", req, foo.Generation)
	if _, written := p.reports[key]; !written {
		p.reports[key] = report(foo)
	}
	p.history = append(p.history, fmt.Sprintf("reconciled %s, generation %d", req, foo.Generation))
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
	return p.reports[fmt.Sprintf("%s@%d", foo, generation)]
}

// History returns what Reconcile has done lately, the last 100 lines of it, for a debug page.
func (p *Prober) History() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.history[max(0, len(p.history)-100):]...)
}
