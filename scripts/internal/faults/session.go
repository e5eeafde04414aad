package faults

// A program through the proxy, and a fault that comes and goes.

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/faultproxy"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

const (
	// quiet is how long a program has to send nothing to count as settled.
	quiet = time.Second
	// settledIn is how long that may take.
	settledIn = time.Minute
	// watches is how many a program has open that has settled: of Foos, and of Deployments.
	watches = 2
)

// Session is what it takes to try a fault.
type Session struct {
	Fault Fault
	// Target is the API server, and Cluster what can kill it and bring it up again.
	Target  *rest.Config
	Cluster cluster.Backend
	// Binary is the program, Kubeconfig its own (not yet through a proxy), and Flags are more of its flags.
	Binary, Kubeconfig string
	Flags              []string
	// Ready returns when the program has done its first work, or says why not.
	Ready func(context.Context) error
	// Advice is told when the program has settled: what the reader may do then.
	Advice string
	// Turns is received from when the program has settled. With each, the fault begins or ends.
	Turns   <-chan struct{}
	Out     io.Writer
	Colours ui.Palette
}

type session struct {
	Session
	teller
	replicas []*running // the oldest first
	number   int        // of the youngest
}

// running is a replica of the program, behind a proxy of its own.
type running struct {
	number     int // 0: there is but one
	proxy      *faultproxy.Proxy
	kubeconfig string
	program    *process.Program
}

// Run lets the fault come and go until ctx ends, which is no error, and leaves nothing running.
func (s Session) Run(ctx context.Context) error {
	run := &session{Session: s, teller: teller{out: s.Out, colours: s.Colours}}
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
		if err := run.strike(ctx); err != nil {
			return err
		}
	}
}

// settle waits until the program has done what there is to do: it watches, and sends nothing.
func (s *session) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settledIn)
	defer cancel()
	err := s.Ready(ctx)
	if err == nil {
		proxy, sent := s.replicas[0].proxy, -1
		err = wait.PollUntilContextCancel(ctx, quiet, true, func(context.Context) (bool, error) {
			before := sent
			sent = len(slices.DeleteFunc(proxy.Requests(), isElection))
			return sent == before && proxy.Watches() >= watches, nil
		})
	}
	if err != nil {
		return problem.New("the program doesn't become idle within %v", settledIn).
			ToDo("the output above shows what it does").
			Because(err)
	}
	s.heading("It has settled")
	s.note(s.Advice)
	return nil
}

// isElection reports whether the request is about a Lease: a leader renews its own forever.
func isElection(r audit.Request) bool { return r.Resource == "leases" }

// strike makes the fault, until the next turn or the end of ctx.
func (s *session) strike(ctx context.Context) error {
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
	if err := end(); err != nil {
		return fmt.Errorf("take back %s: %w", s.Fault.Name, err)
	}
	return nil
}

// begin makes the fault. The function that it returns ends the fault.
func (s *session) begin(ctx context.Context) (end func() error, err error) {
	if s.Fault.proxied != nil {
		return s.follow(ctx, s.Fault.proxied(s.replicas[0].proxy)), nil
	}
	return s.Fault.begin(ctx, s)
}

// follow tells each hit of a fault, and returns what ends both.
func (s *session) follow(ctx context.Context, fault *faultproxy.Fault) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		for hits := 1; fault.Wait(ctx, hits) == nil; hits++ {
			s.tell(theFault, "hit %d", hits)
		}
	}()
	return func() error {
		fault.Stop()
		cancel()
		<-told
		return nil
	}
}

func (s *session) startReplica() error {
	proxy, err := faultproxy.Start(s.Target)
	if err != nil {
		return err
	}
	s.number++
	c := &running{proxy: proxy, kubeconfig: fmt.Sprintf("%s.%d", s.Kubeconfig, s.number)}
	if s.Fault.Replicas {
		c.number = s.number
	}
	s.replicas = append(s.replicas, c)
	if err := proxy.Kubeconfig(s.Kubeconfig, c.kubeconfig); err != nil {
		return err
	}
	proxy.Follow(func(r audit.Request) { s.request(c.source(aRequest), r) })
	c.program, err = process.Supervise(process.Options{
		Binary:   s.Binary,
		Args:     append([]string{"--kubeconfig", c.kubeconfig}, s.Flags...),
		Output:   &output.Lines{Do: func(line string) { s.tell(c.source(theProgram), "%s", withoutStamp(line)) }},
		OwnGroup: true,
		Exited: func(why error, again bool) {
			if again {
				s.tell(c.source(theProgram), "has exited (%v), and is started again", why)
			} else {
				s.tell(c.source(theProgram), "can't be started again (%v)", why)
			}
		},
	})
	return err
}

// source is who something is told about: a program, or one of several.
func (r *running) source(what string) string {
	if r.number == 0 {
		return what
	}
	return fmt.Sprintf("%s %d", what, r.number)
}

func (s *session) close() {
	for _, c := range s.replicas {
		c.close((*process.Program).Stop)
	}
}

// close ends a replica in the way given, and its proxy.
func (r *running) close(end func(*process.Program)) {
	if r.program != nil {
		end(r.program)
	}
	r.proxy.Close()
	os.Remove(r.kubeconfig)
}
