// Package faults is the catalogue of everything that goes wrong in the course. `workshop faults`
// uses it to run a chapter's program through the fault proxy against a real API server. It prints
// each request, each line of the program's log and each hit of the fault as it happens.
//
// The matrix, `test --only` and scripts/acceptance use the same list. To add a fault, add an entry
// here and its code: a method of the fault proxy, or a function below. session.go runs a program
// and injects a fault, and print.go prints what happens.
package faults

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// Fault is something that may go wrong while a controller works.
type Fault struct {
	Name string
	// Title names it in the matrix and in the names of its tests.
	Title string
	// Does says what happens when `workshop faults` injects it, and Hint what helps to see its
	// effect.
	Does, Hint string
	// Parts are what it consists of, if `workshop faults` injects one part at a time. Then the
	// parts have the fields below.
	Parts []Fault
	// Shown says that no program survives it. `workshop faults` shows it, but the contract leaves it
	// out.
	Shown bool
	// Replicas says that several replicas of the program run and elect a leader, if they can.
	Replicas bool

	// proxied injects it through the fault proxy.
	proxied func(*faultproxy.Proxy) *faultproxy.Fault
	// begin injects it in another way. The function that it returns ends the fault, and is called
	// once.
	begin func(ctx context.Context, s *session) (end func() error, err error)
}

// All returns all faults, in the order of the matrix.
func All() []Fault {
	return []Fault{
		{
			Name: "F1", Title: "every watch connection is cut, again and again",
			Does: "each watch's connection is cut, and each new one's after one event; " +
				"writes in flight fail too, because they share this HTTP/2 connection",
			proxied: func(p *faultproxy.Proxy) *faultproxy.Fault { return p.KeepCutting(1) },
		},
		{
			Name: "F2", Title: "watches get 410 Gone, as a response and as an event",
			Parts: []Fault{{
				Name: "F2a", Does: "every watch ends, and the next is answered 410 Gone",
				proxied: (*faultproxy.Proxy).GoneAsResponse,
			}, {
				Name: "F2b", Does: "every watch gets an ERROR event, 410 Gone",
				proxied: func(p *faultproxy.Proxy) *faultproxy.Fault { return p.GoneAsEvent() },
			}},
		},
		{
			Name: "F3", Title: "the API server is killed and started again",
			Does:  "the API server is killed; then it is started again",
			begin: killAPIServer,
		},
		{
			Name: "F4a", Title: "writes are answered 500",
			Does:    "the next 3 writes are answered 500",
			proxied: failWrites(http.StatusInternalServerError),
		},
		{
			Name: "F4b", Title: "writes are answered 429",
			Does:    "the next 3 writes are answered 429, retry in a second",
			proxied: failWrites(http.StatusTooManyRequests),
		},
		{
			Name: "F4c", Title: "writes are answered 409 for no reason",
			Does:    "the next 3 writes are answered 409 Conflict",
			proxied: failWrites(http.StatusConflict),
		},
		{
			Name: "F5", Title: "the program is killed between two of its writes",
			Does:  "the program is killed after its next write, before it can do another, and started again",
			begin: killProgram,
		},
		{
			Name: "F6a", Title: "a connection freezes",
			Does: "the connection is frozen: it stays open, but no bytes get through",
			Hint: "a program that uses HTTP/2 notices after 45 seconds, or sooner if the command begins with\n" +
				"HTTP2_READ_IDLE_TIMEOUT_SECONDS=5 HTTP2_PING_TIMEOUT_SECONDS=5.",
			proxied: (*faultproxy.Proxy).Freeze,
		},
		{
			Name: "F6b", Title: "watches go silent",
			Does:    "the watches are silent: the connection works, but no events arrive",
			Hint:    "no chapter's program notices, because client-go has no timeout for a silent watch. 03-workqueue/more/production.md shows how to set one.",
			Shown:   true,
			proxied: func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Silence() },
		},
		{
			Name: "F6c", Title: "requests for the lease get no response",
			Does:     "requests for the Lease get no response, and all others do",
			Hint:     "the leader gives up and restarts before the lease runs out.",
			Replicas: true,
			proxied:  func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Hang(faultproxy.Resource("leases")) },
		},
		{
			Name: "F7", Title: "the leading replica is killed while a second one waits",
			Does:     "a second replica of the program is started; then the first one is killed",
			Replicas: true,
			begin:    addReplica,
		},
		{
			Name: "F8", Title: "Deployments are forbidden for a while",
			Does:    "Deployments are forbidden",
			proxied: func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Forbid(faultproxy.Resource("deployments")) },
		},
		{
			Name: "F9", Title: "the cache is seconds behind",
			Does:    "each event of a watch arrives 5 seconds late, but requests get their answers at once",
			Hint:    "change a Foo twice within these 5 seconds.",
			proxied: func(p *faultproxy.Proxy) *faultproxy.Fault { return p.Delay(5 * time.Second) },
		},
	}
}

func failWrites(code int) func(*faultproxy.Proxy) *faultproxy.Fault {
	return func(p *faultproxy.Proxy) *faultproxy.Fault { return p.FailWrites(3, code) }
}

// Inject begins the fault in a proxy. It returns nil if the fault isn't the proxy's, or has parts.
func (f Fault) Inject(p *faultproxy.Proxy) *faultproxy.Fault {
	if f.proxied == nil {
		return nil
	}
	return f.proxied(p)
}

func (f Fault) NeedsProxy() bool {
	return f.proxied != nil || slices.ContainsFunc(f.Parts, Fault.NeedsProxy)
}

// Injectable returns what `workshop faults` can inject: all faults, or the parts of those that have
// parts.
func Injectable() (all []Fault) {
	for _, fault := range All() {
		if fault.Parts == nil {
			fault.Parts = []Fault{fault}
		}
		all = append(all, fault.Parts...)
	}
	return all
}

// Whole returns the name of the fault that has this part, and other names unchanged.
func Whole(name string) string {
	for _, fault := range All() {
		for _, part := range fault.Parts {
			if strings.EqualFold(part.Name, name) {
				return fault.Name
			}
		}
	}
	return name
}

// Find returns the fault or part of that name, in upper or lower case, if `workshop faults` can
// inject it.
func Find(name string) (Fault, error) {
	var names, several []string
	for _, fault := range Injectable() {
		if strings.EqualFold(fault.Name, name) {
			return fault, nil
		}
		names = append(names, fault.Name)
		if strings.EqualFold(strings.TrimRight(fault.Name, "abc"), name) {
			several = append(several, fault.Name)
		}
	}
	if len(several) > 0 {
		return Fault{}, problem.New("%s has several parts", name).
			ToDo("choose one of %s", strings.Join(several, ", "))
	}
	return Fault{}, problem.New("there is no fault %q", name).
		ToDo(`choose one of %s; "./scripts/workshop faults" describes them`, strings.Join(names, ", "))
}

func killAPIServer(ctx context.Context, s *session) (end func() error, err error) {
	end = func() error {
		if _, err := s.Cluster.Up(context.WithoutCancel(ctx), cluster.UpOptions{}); err != nil {
			return err
		}
		s.print(theFault, "the API server is back")
		return nil
	}
	if err := s.Cluster.Kill(ctx, "kube-apiserver"); err != nil {
		return nil, errors.Join(err, end()) // it may have been killed anyway
	}
	return end, nil
}

func killProgram(ctx context.Context, s *session) (end func() error, err error) {
	first := s.replicas[0]
	return s.follow(ctx, first.proxy.AfterWrite(1, func(audit.Request) { first.program.Kill() })), nil
}

// addReplica is F7. Replicas have numbers, and the oldest one is killed.
func addReplica(_ context.Context, s *session) (end func() error, err error) {
	if err := s.startReplica(); err != nil {
		return nil, err
	}
	return func() error {
		oldest := s.replicas[0]
		s.replicas = s.replicas[1:]
		s.print(oldest.source(theProgram), "is killed, and isn't started again")
		oldest.close((*process.Program).Destroy)
		return nil
	}, nil
}
