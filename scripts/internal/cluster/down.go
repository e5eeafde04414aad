package cluster

// Stopping clusters and their processes, and deleting their data on request.

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/lock"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// grace is how long a process has to end by itself. An API server without its etcd takes minutes.
const grace = 5 * time.Second

// Down ends the cluster's processes, and no others, and returns how many there were. The data stays for the next Up, unless
// purge is set: then all that belongs to the cluster is removed. waiting is called if another command has to end first.
func (c *Cluster) Down(ctx context.Context, purge bool, waiting func(holder string)) (ended int, err error) {
	if err := CheckName(c.name); err != nil {
		return 0, err // it names a folder that may be removed
	}
	release, err := lock.Acquire(ctx, c.state, waiting)
	if err != nil {
		return 0, err
	}
	defer release()
	running, err := c.running(ctx)
	if err != nil {
		return 0, err
	}
	if err := end(ctx, maps.Values(running)); err != nil {
		return 0, fmt.Errorf("ending cluster %q: %w", c.name, err)
	}
	if !purge {
		return len(running), nil
	}
	return len(running), os.RemoveAll(c.dir)
}

// Purge ends every process of the repository at root: those that run a program which lies in its .workshop, whatever cluster they
// belong to, and those of clusters there. It removes .workshop but for the files in it whose names match one of the patterns in
// keep, and returns how many processes there were, and the names of what is kept. It never follows a link: where that leads may
// be another repository's.
func Purge(ctx context.Context, root string, keep []string, waiting func(holder string)) (ended int, kept []string, err error) {
	state := filepath.Join(resolve(root), ".workshop")
	if target, err := os.Readlink(state); err == nil {
		return 0, nil, problem.New("%s is a link to %s, which may be another repository's", state, target).
			ToDo("remove the link by hand, and the folder too if nothing else uses it")
	}
	release, err := lock.Acquire(ctx, state, waiting)
	if err != nil {
		return 0, nil, err
	}
	defer release()
	programs, err := findPrograms(ctx, filepath.Join(state, "bin"))
	if err != nil {
		return 0, nil, err
	}
	// The programs may be links to another repository's, which runs clusters of its own by them.
	programs = slices.DeleteFunc(programs, func(p program) bool {
		return !strings.HasPrefix(p.executable, state+"/") && !strings.HasPrefix(p.home, state+"/")
	})
	if err := end(ctx, slices.Values(programs)); err != nil {
		return 0, nil, fmt.Errorf("ending all clusters: %w", err)
	}
	kept, err = removeAllBut(state, keep)
	return len(programs), kept, err
}

// removeAllBut removes what is in a folder, but for what matches one of the patterns, and the folder if nothing is left.
func removeAllBut(dir string, patterns []string) (kept []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if slices.ContainsFunc(patterns, func(pattern string) bool { match, _ := filepath.Match(pattern, entry.Name()); return match }) {
			kept = append(kept, entry.Name())
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return kept, err
		}
	}
	if kept == nil {
		return nil, os.RemoveAll(dir)
	}
	return kept, nil
}

// end ends clients before their servers, so that nothing is lost, and returns when all are gone.
func end(ctx context.Context, programs iter.Seq[program]) error {
	stages := make([][]*gopsutil.Process, 3)
	stageOf := map[string]int{"kube-apiserver": 1, "etcd": 2}
	for p := range programs {
		stage := stageOf[p.component]
		stages[stage] = append(stages[stage], p.Process)
	}
	for _, processes := range stages {
		if err := process.End(ctx, grace, process.Those(processes...)); err != nil {
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
