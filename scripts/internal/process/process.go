// Package process owns the processes that the workshop starts: it starts a command with all its
// children as one group, ends processes by an identity that no later process shares, and keeps a
// program running (supervise.go).
package process

// Finding processes and ending them. A process is known by its number and the time of its start: a later process that gets
// the same number isn't taken for it.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// pollInterval is how often processes are looked at that aren't our children: there is nothing else to wait on.
	pollInterval = 20 * time.Millisecond
	// goneIn is how long a process may take to be gone once it was killed.
	goneIn = 5 * time.Second
)

// Finder returns the running processes that are meant.
type Finder func(context.Context) ([]*process.Process, error)

// Find returns identify's results for the running processes that it recognizes.
func Find[T any](ctx context.Context, identify func(*process.Process) (one T, known bool)) (found []T, err error) {
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	for _, pid := range pids {
		if _, known := identify(&process.Process{Pid: pid}); !known {
			continue
		}
		// NewProcess records the start time, which guards against a reused process ID.
		p, err := process.NewProcessWithContext(ctx, pid)
		if err != nil {
			continue
		}
		if one, known := identify(p); known && Runs(ctx, p) {
			found = append(found, one)
		}
	}
	return found, nil
}

// Those finds which of these processes still run.
func Those(processes ...*process.Process) Finder {
	return func(ctx context.Context) (left []*process.Process, err error) {
		for _, p := range processes {
			if Runs(ctx, p) {
				left = append(left, p)
			}
		}
		return left, nil
	}
}

// Runs reports whether a process that was found is still there. A zombie isn't: its parent just hasn't looked yet.
func Runs(ctx context.Context, p *process.Process) bool {
	if same, err := p.IsRunningWithContext(ctx); err != nil || !same {
		return false
	}
	status, err := p.StatusWithContext(ctx)
	return err == nil && !slices.Contains(status, process.Zombie)
}

// End ends the processes that find finds, even new ones, and kills them after the grace period.
func End(ctx context.Context, grace time.Duration, find Finder) error {
	if err := signalAll(ctx, syscall.SIGTERM, grace, find); err == nil || ctx.Err() != nil {
		return err
	}
	return Kill(ctx, find)
}

// Kill kills the processes that find finds, also those that are started meanwhile, and returns when none is left.
func Kill(ctx context.Context, find Finder) error {
	return signalAll(ctx, syscall.SIGKILL, goneIn, find)
}

// signalAll sends the signal to each process once, and waits until none is left.
func signalAll(ctx context.Context, signal syscall.Signal, timeout time.Duration, find Finder) error {
	told := map[int32]bool{}
	var left []*process.Process
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		var err error
		left, err = find(ctx)
		for _, p := range left {
			if !told[p.Pid] {
				told[p.Pid] = true
				_ = p.SendSignalWithContext(ctx, signal) // it may have ended just now
			}
		}
		return len(left) == 0, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("process %d doesn't end", left[0].Pid)
	}
	return err
}

// Command is a command that leads a process group of its own, so that Ctrl-C in a terminal reaches it through its context
// alone. When the context ends, the whole group gets SIGINT, and is killed if it doesn't end in a grace period.
type Command struct {
	*exec.Cmd
	killLater *time.Timer // once the context has ended
}

// NewCommand returns a command that isn't started yet.
func NewCommand(ctx context.Context, grace time.Duration, name string, args ...string) *Command {
	c := &Command{Cmd: exec.CommandContext(ctx, name, args...)}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = grace
	c.Cancel = func() error {
		c.killLater = time.AfterFunc(grace, c.kill) // WaitDelay is about the command alone
		err := syscall.Kill(-c.Process.Pid, syscall.SIGINT)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return c
}

// kill kills the group. Mostly there is nothing left of it.
func (c *Command) kill() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// Wait waits until the command has ended, and kills what is left of its group.
func (c *Command) Wait() error {
	err := c.Cmd.Wait()
	if c.killLater != nil {
		c.killLater.Stop()
	}
	c.kill()
	return err
}

// Run starts the command and waits for it.
func (c *Command) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// CombinedOutput runs the command and returns everything it printed.
func (c *Command) CombinedOutput() ([]byte, error) {
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	err := c.Run()
	return output.Bytes(), err
}
