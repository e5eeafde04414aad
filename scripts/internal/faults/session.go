package faults

// A session: a program that runs through the proxy, and a fault that begins and ends.

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
	Fault Fault
	// Target is the API server, and Cluster kills and restarts it.
	Target  *rest.Config
	Cluster cluster.Backend
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

// running is a replica of the program with its own proxy.
type running struct {
	number     int // 0 if there is only one
	proxy      *faultproxy.Proxy
	kubeconfig string
	program    *process.Program
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
		proxy, sent := s.replicas[0].proxy, -1
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
	if err := end(); err != nil {
		return fmt.Errorf("end %s: %w", s.Fault.Name, err)
	}
	return nil
}

// begin begins the fault. The function that it returns ends it.
func (s *session) begin(ctx context.Context) (end func() error, err error) {
	if s.Fault.proxied != nil {
		return s.follow(ctx, s.Fault.proxied(s.replicas[0].proxy)), nil
	}
	return s.Fault.begin(ctx, s)
}

// follow prints each hit of a fault. The function that it returns ends both.
func (s *session) follow(ctx context.Context, fault *faultproxy.Fault) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for hits := 1; fault.Wait(ctx, hits) == nil; hits++ {
			s.print(theFault, "hit %d", hits)
		}
	}()
	return func() error {
		fault.Stop()
		cancel()
		<-done
		return nil
	}
}

func (s *session) startReplica() error {
	s.number++
	kubeconfig := fmt.Sprintf("%s.%d", s.Kubeconfig, s.number)
	proxy, err := faultproxy.Before(s.Target, s.Kubeconfig, kubeconfig)
	if err != nil {
		return err
	}
	c := &running{proxy: proxy, kubeconfig: kubeconfig}
	if s.Fault.Replicas {
		c.number = s.number
	}
	s.replicas = append(s.replicas, c)
	proxy.Follow(func(r audit.Request) { s.request(c.source(aRequest), r) })
	c.program, err = process.Supervise(process.Options{
		Binary:   s.Binary,
		Args:     append([]string{"--kubeconfig", c.kubeconfig}, s.Flags...),
		Output:   &process.Lines{Do: func(line string) { s.print(c.source(theProgram), "%s", withoutStamp(line)) }},
		OwnGroup: true,
		Exited: func(why error, again bool) {
			if again {
				s.print(c.source(theProgram), "has exited (%v), and is started again", why)
			} else {
				s.print(c.source(theProgram), "can't be started again (%v)", why)
			}
		},
	})
	return err
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
		c.close((*process.Program).Stop)
	}
}

func (r *running) close(end func(*process.Program)) {
	if r.program != nil {
		end(r.program)
	}
	r.proxy.Close()
	os.Remove(r.kubeconfig)
}
