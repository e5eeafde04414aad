package cluster

// How a cluster's processes are ended.

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
)

// grace is how long a process has to end by itself. etcd takes milliseconds, an API server whose etcd is gone minutes.
const grace = 5 * time.Second

// end ends processes, clients before their servers, so that nothing is lost. It returns when all are gone.
func end(ctx context.Context, programs iter.Seq[program]) error {
	var controllers, servers, stores []*gopsutil.Process
	for p := range programs {
		switch p.component {
		case "etcd":
			stores = append(stores, p.Process)
		case "kube-apiserver":
			servers = append(servers, p.Process)
		default:
			controllers = append(controllers, p.Process)
		}
	}
	for _, stage := range [][]*gopsutil.Process{controllers, servers, stores} {
		if err := process.End(ctx, grace, process.Those(stage...)); err != nil {
			return err
		}
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
	return process.Kill(ctx, process.Those(p.Process))
}

// PIDs are the processes of the components that run.
func (c *Cluster) PIDs(ctx context.Context) (map[string]int, error) {
	running, err := c.running(ctx)
	pids := map[string]int{}
	for component, p := range running {
		pids[component] = int(p.Pid)
	}
	return pids, err
}
