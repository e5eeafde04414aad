package faults

// A session: a program that runs through the proxy, and a fault that begins and ends.

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

const (
	// quietPeriod is how long a program has sent nothing when it counts as settled.
	quietPeriod = time.Second
	// settleTimeout is how long that may take.
	settleTimeout = time.Minute
	// watches is how many a settled program has open: one of Foos and one of Deployments.
	watches = 2
)

type Session struct {
	Fault  Fault
	Target *rest.Config // the API server
	// Binary is the program. Kubeconfig is its own, not through a proxy. Flags are additional ones.
	Binary, Kubeconfig string
	Flags              []string
	// Ready returns when the program has done its first work, or an error.
	Ready func(context.Context) error
	// Advice is printed when the program has settled: what the reader may do then.
	Advice string
	// Turns starts or ends the fault with each value, once the program has settled.
	Turns   <-chan struct{}
	Out     io.Writer
	Colours ui.Palette
}

type session struct {
	Session
	printer
	replicas []*running // oldest first
	number   int        // the newest one's
}

// running is a replica of the program.
type running struct {
	*operator.Replica
	number int // 0 if there is only one
}

// Run starts and ends the fault at each turn until ctx ends, which is no error. It leaves nothing
// running.
func (s Session) Run(ctx context.Context) error {
	run := &session{Session: s, printer: printer{out: s.Out, colours: s.Colours}}
	defer run.close()
	run.heading("%s starts behind the fault proxy", filepath.Base(s.Binary))
	if err := run.startReplica(); err != nil {
		return err
	}
	if err := run.settle(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.Turns:
		}
		if err := run.inject(ctx); err != nil {
			return err
		}
	}
}

// settle waits until the program is idle: it watches, and sends nothing.
func (s *session) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	err := s.Ready(ctx)
	if err == nil {
		proxy, sent := s.replicas[0].Proxy, -1
		err = wait.PollUntilContextCancel(ctx, quietPeriod, true, func(context.Context) (bool, error) {
			before := sent
			sent = len(slices.DeleteFunc(proxy.Requests(), isElection))
			return sent == before && proxy.Watches() >= watches, nil
		})
	}
	if err != nil {
		return problem.New("the program doesn't become idle within %v", settleTimeout).
			ToDo("the output above shows what it does").
			Because(err)
	}
	s.heading("It has settled")
	s.note(s.Advice)
	return nil
}

// isElection reports whether the request is about a Lease, which a leader renews forever.
func isElection(r audit.Request) bool { return r.Resource == "leases" }

// inject lets the fault act until the next turn or the end of ctx.
func (s *session) inject(ctx context.Context) error {
	s.heading("%s begins: %s", s.Fault.Name, s.Fault.Does)
	end, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Fault.Name, err)
	}
	select {
	case <-ctx.Done():
	case <-s.Turns:
	}
	s.heading("%s ends", s.Fault.Name)
	end()
	return nil
}

// begin begins the fault. The function that it returns ends it.
func (s *session) begin(ctx context.Context) (end func(), err error) {
	if s.Fault.IsLeadersDeath() {
		return s.addReplica()
	}
	first := s.replicas[0]
	fault := s.Fault.Begin(Target{Proxy: first.Proxy, Kill: first.Kill, Owned: []string{"deployments"}})
	stop := s.follow(ctx, fault)
	return func() {
		if last := s.Fault.End(first.Proxy); last != nil {
			s.print(theFault, "at the end: hit %d", last.Hits())
		}
		stop()
	}, nil
}

// addReplica starts another replica. Replicas have numbers, and at the end the oldest one is killed.
func (s *session) addReplica() (end func(), err error) {
	if err := s.startReplica(); err != nil {
		return nil, err
	}
	return func() {
		oldest := s.replicas[0]
		s.replicas = s.replicas[1:]
		s.print(oldest.source(theProgram), "is killed, and isn't started again")
		oldest.Close((*process.Replica).Destroy)
	}, nil
}

// follow prints each hit of a fault. The function that it returns ends both.
func (s *session) follow(ctx context.Context, fault *faultproxy.Fault) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for hits := 1; fault.Wait(ctx, hits) == nil; hits++ {
			s.print(theFault, "hit %d", hits)
		}
	}()
	return func() {
		fault.Stop()
		cancel()
		<-done
	}
}

func (s *session) startReplica() error {
	s.number++
	kubeconfig := fmt.Sprintf("%s.%d", s.Kubeconfig, s.number)
	replica, err := operator.Behind(s.Target, s.Kubeconfig, kubeconfig)
	if err != nil {
		return err
	}
	c := &running{Replica: replica}
	if s.Fault.Replicas {
		c.number = s.number
	}
	s.replicas = append(s.replicas, c)
	c.Proxy.Follow(func(r audit.Request) { s.request(c.source(aRequest), r) })
	return c.Start(process.Options{
		Binary: s.Binary,
		Args:   append([]string{"--kubeconfig", kubeconfig}, s.Flags...),
		Output: &process.Lines{Do: func(line string) { s.print(c.source(theProgram), "%s", withoutStamp(line)) }},
		Exited: func(why error) { s.print(c.source(theProgram), "has exited (%v), and is started again", why) },
	})
}

// source names the replica that a line is about, with its number if there are several.
func (r *running) source(what string) string {
	if r.number == 0 {
		return what
	}
	return fmt.Sprintf("%s %d", what, r.number)
}

func (s *session) close() {
	for _, c := range s.replicas {
		c.Close((*process.Replica).Stop)
	}
}
