package cluster

// Stopping clusters, and deleting their data.

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

	"example.com/operators/scripts/internal/process"
)

// grace is the time between SIGTERM and SIGKILL. An API server without etcd would take minutes.
const grace = 5 * time.Second

// Down ends the cluster's processes and returns their number. With purge, it also deletes the
// cluster's files. It calls waiting if another command has to end first.
func (c *Cluster) Down(ctx context.Context, purge bool, waiting func(holder string)) (ended int, err error) {
	release, err := process.Lock(ctx, c.state, waiting)
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

// Purge ends all clusters in the repository's .workshop, even those whose folder was removed by hand.
// Then it removes .workshop, except for files whose names match a pattern in keep. It returns the
// number of processes and the kept names.
func Purge(
	ctx context.Context, root string, keep []string, waiting func(holder string),
) (ended int, kept []string, err error) {
	state := filepath.Join(resolve(root), ".workshop")
	release, err := process.Lock(ctx, state, waiting)
	if err != nil {
		return 0, nil, err
	}
	defer release()
	programs, err := findPrograms(ctx, state)
	if err != nil {
		return 0, nil, err
	}
	// The program may be a link to another repository's, whose clusters keep running.
	programs = slices.DeleteFunc(programs, func(p program) bool { return !strings.HasPrefix(p.home, state+"/") })
	if err := end(ctx, slices.Values(programs)); err != nil {
		return 0, nil, fmt.Errorf("ending all clusters: %w", err)
	}
	kept, err = removeAllBut(state, keep)
	return len(programs), kept, err
}

// removeAllBut empties a folder except for names that match a pattern, and removes it if it is
// empty.
func removeAllBut(dir string, patterns []string) (kept []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		isMatch := func(pattern string) bool { match, _ := filepath.Match(pattern, entry.Name()); return match }
		if slices.ContainsFunc(patterns, isMatch) {
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

// end ends clients before their servers, so that no write is lost, and waits until all have ended.
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
