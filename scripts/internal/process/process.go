// Package process starts commands as process groups, and ends processes by their ID and start time,
// so that a later one with the same ID isn't mistaken for them. It also has what else several
// commands that start processes share: their lock, and buffers for what the processes print.
package process

import (
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
	// pollInterval is how often to check processes that aren't our children.
	pollInterval = 20 * time.Millisecond
	// killTimeout is how long a killed process may take to end.
	killTimeout = 5 * time.Second
)

// Finder returns the running processes that it selects.
type Finder func(context.Context) ([]*process.Process, error)

// Find returns identify's results for the running processes that it recognizes.
func Find[T any](ctx context.Context, identify func(*process.Process) (one T, known bool)) (found []T, err error) {
	all, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	for _, p := range all {
		if one, known := identify(p); known && Runs(ctx, p) {
			found = append(found, one)
		}
	}
	return found, nil
}

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

// Runs reports whether a process still runs. A zombie, which its parent hasn't waited for, doesn't.
func Runs(ctx context.Context, p *process.Process) bool {
	if same, err := p.IsRunningWithContext(ctx); err != nil || !same {
		return false
	}
	status, err := p.StatusWithContext(ctx)
	return err == nil && !slices.Contains(status, process.Zombie)
}

// End ends the processes that find returns, even new ones, and kills them after the grace period.
func End(ctx context.Context, grace time.Duration, find Finder) error {
	if err := signalAll(ctx, syscall.SIGTERM, grace, find); err == nil || ctx.Err() != nil {
		return err
	}
	return Kill(ctx, find)
}

// Kill kills the processes that find returns, even new ones, and returns when none is left.
func Kill(ctx context.Context, find Finder) error {
	return signalAll(ctx, syscall.SIGKILL, killTimeout, find)
}

// signalAll sends the signal to each process once, and waits until none is left.
func signalAll(ctx context.Context, signal syscall.Signal, timeout time.Duration, find Finder) error {
	signaled := map[int32]bool{}
	var left []*process.Process
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		var err error
		left, err = find(ctx)
		for _, p := range left {
			if !signaled[p.Pid] {
				signaled[p.Pid] = true
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

// Command is a command with its own process group, so Ctrl-C in a terminal reaches it only through
// its context. When the context ends, the group gets SIGINT, and is killed after a grace period.
type Command struct {
	*exec.Cmd
	killLater *time.Timer // set when the context ends
}

func NewCommand(ctx context.Context, grace time.Duration, name string, args ...string) *Command {
	c := &Command{Cmd: exec.CommandContext(ctx, name, args...)}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = grace
	c.Cancel = func() error {
		c.killLater = time.AfterFunc(grace, c.kill) // WaitDelay only applies to the command itself
		err := syscall.Kill(-c.Process.Pid, syscall.SIGINT)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return c
}

func (c *Command) kill() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

func (c *Command) Wait() error {
	err := c.Cmd.Wait()
	if c.killLater != nil {
		c.killLater.Stop()
	}
	c.kill()
	return err
}

func (c *Command) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}
