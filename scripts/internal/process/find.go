package process

// Finding processes and ending them. A process is known by its number and the time of its start: a later process that gets
// the same number isn't taken for it.

import (
	"context"
	"fmt"
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

// End ends the processes that find finds, also those that are started meanwhile. After a grace period they are killed. It
// returns when none is left.
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
