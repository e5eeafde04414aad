package cluster

// How processes are ended.

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// grace is how long a process has to end by itself. etcd takes milliseconds, an API server whose etcd is gone minutes.
const grace = 5 * time.Second

// end ends processes, clients before their servers, so that nothing is lost. It returns when all are gone.
func end(ctx context.Context, programs iter.Seq[program]) error {
	var controllers, servers, stores []program
	for p := range programs {
		switch p.component {
		case "etcd":
			stores = append(stores, p)
		case "kube-apiserver":
			servers = append(servers, p)
		default:
			controllers = append(controllers, p)
		}
	}
	for _, stage := range [][]program{controllers, servers, stores} {
		if err := endAll(ctx, stage); err != nil {
			return err
		}
	}
	return nil
}

func endAll(ctx context.Context, left []program) error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, p := range left {
			_ = syscall.Kill(int(p.pid), signal) // it may be gone: looked at below
		}
		_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, grace, true, func(ctx context.Context) (bool, error) {
			left = slices.DeleteFunc(left, func(p program) bool { return !p.runs(ctx) })
			return len(left) == 0, nil
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%s (pid %d) doesn't end", left[0].component, left[0].pid)
	}
	return nil
}

// Kill ends one component at once, as a crash would. Up starts it again.
func (c *Cluster) Kill(ctx context.Context, component string) error {
	running, err := c.running(ctx)
	if err != nil {
		return err
	}
	p, ok := running[component]
	if !ok {
		return fmt.Errorf("%s of cluster %q doesn't run (these do: %v)", component, c.name, slices.Sorted(maps.Keys(running)))
	}
	if err := syscall.Kill(int(p.pid), syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing %s (pid %d): %w", component, p.pid, err)
	}
	return wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, grace, true, func(ctx context.Context) (bool, error) {
		return !p.runs(ctx), nil
	})
}

// PIDs are the processes of the components that run.
func (c *Cluster) PIDs(ctx context.Context) (map[string]int, error) {
	running, err := c.running(ctx)
	pids := map[string]int{}
	for component, p := range running {
		pids[component] = int(p.pid)
	}
	return pids, err
}
