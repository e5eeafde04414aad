package faults

// A session: a program that runs through the proxy, and a fault that begins and ends.

import (
	"context"
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
	// fewestWatches is how many a settled program has open: one of its kind and one of Deployments.
	fewestWatches = 2
)

type Session struct {
	Fault  Fault
	Target *rest.Config // the API server
	// Binary is the program. Kubeconfig is its own, not through a proxy. Flags are additional ones.
	Binary, Kubeconfig string
	Flags              []string
	// Ready returns when the program has done its first work, or an error.
	Ready func(context.Context) error
	// Commands are those for what a fault says to Try.
	Commands map[string]string
	// Turns starts or ends the fault with each value, once the program has settled.
	Turns   <-chan struct{}
	Out     io.Writer
	Colours ui.Palette
}

type session struct {
	Session
	printer
	replica *operator.Replica
}

// Run starts and ends the fault at each turn until ctx ends, which is no error. It leaves nothing
// running.
func (s Session) Run(ctx context.Context) error {
	run := &session{Session: s, printer: printer{out: s.Out, colours: s.Colours}}
	run.heading("%s starts behind the fault proxy", filepath.Base(s.Binary))
	var err error
	run.replica, err = operator.Behind(s.Target, s.Kubeconfig, s.Kubeconfig+".proxy")
	if err != nil {
		return err
	}
	defer run.replica.Close()
	if err := run.start(); err != nil {
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
		run.inject(ctx)
	}
}

// settle waits until the program has done its first work and is idle.
func (s *session) settle(ctx context.Context) error {
	err := s.Ready(ctx)
	if err == nil {
		err = s.untilIdle(ctx)
	}
	if err != nil {
		return problem.New("the program doesn't become idle within %v", settleTimeout).
			ToDo("the output above shows what it does").
			Because(err)
	}
	s.heading("It has settled")
	s.note("Press Enter to begin the fault, and Enter again to end it. Ctrl-C exits.")
	return nil
}

// untilIdle waits until the program watches and sends nothing.
func (s *session) untilIdle(ctx context.Context) error {
	proxy, sent := s.replica.Proxy, -1
	return wait.PollUntilContextTimeout(ctx, quietPeriod, settleTimeout, true, func(context.Context) (bool, error) {
		before := sent
		sent = len(slices.DeleteFunc(proxy.Requests(), audit.Request.IsElection))
		return sent == before && proxy.Watches() >= fewestWatches, nil
	})
}

// inject lets the fault act until the next turn or the end of ctx.
func (s *session) inject(ctx context.Context) {
	s.heading("%s begins: %s", s.Fault.Name, s.Fault.Does)
	proxy := s.replica.Proxy
	fault := s.Fault.Begin(Target{Proxy: proxy, Kill: s.replica.Kill, Owned: []string{"deployments"}})
	stop := s.follow(ctx, fault)
	for i, what := range s.Fault.Try {
		if i == 0 {
			s.note("Meanwhile, in another terminal:")
		}
		s.note("  " + s.Commands[what])
	}
	select {
	case <-ctx.Done():
	case <-s.Turns:
	}
	s.heading("%s ends", s.Fault.Name)
	s.Fault.End(proxy)
	stop()
	_ = s.untilIdle(ctx) // so that the last line is what there was to see
	if fault.Hits() == 0 {
		s.note("0 " + s.Fault.Hit + ", because nothing that it acts on happened meanwhile.")
		return
	}
	s.note(s.Fault.See)
}

// follow prints the number of a fault's hits: 1, 2, 4, 8 and so on. The function that it returns ends
// both.
func (s *session) follow(ctx context.Context, fault *faultproxy.Fault) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for hits := 1; fault.Wait(ctx, hits) == nil; hits *= 2 {
			s.print(theFault, "%s so far: %d", s.Fault.Hit, hits)
		}
	}()
	return func() {
		fault.Stop()
		cancel()
		<-done
	}
}

func (s *session) start() error {
	s.replica.Proxy.Follow(s.request)
	return s.replica.Start(operator.Options{
		Binary: s.Binary,
		Args:   append([]string{"--kubeconfig", s.replica.Kubeconfig}, s.Flags...),
		Output: &process.Lines{Do: func(line string) { s.print(theProgram, "%s", withoutStamp(line)) }},
		Exited: func(why error) { s.print(theProgram, "has exited (%v), and is started again", why) },
	})
}
