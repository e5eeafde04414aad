package cluster

// Ending clusters, with or without their data. How processes are ended is in end.go.

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"example.com/operators/scripts/internal/lock"
)

// Down ends the cluster's processes, and no others, and returns how many there were. The data stays for the next Up, unless
// purge is set: then all that belongs to the cluster is removed. waiting is called if another command has to end first.
func (c *Cluster) Down(ctx context.Context, purge bool, waiting func(holder string)) (ended int, err error) {
	if err := CheckName(c.Name); err != nil {
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
		return 0, fmt.Errorf("ending cluster %q: %w", c.Name, err)
	}
	if !purge {
		return len(running), nil
	}
	return len(running), os.RemoveAll(c.dir)
}

// Purge ends every process that runs a program of the repository at root, whatever cluster it belongs to, and removes
// .workshop. It returns how many processes there were.
func Purge(ctx context.Context, root string, waiting func(holder string)) (ended int, err error) {
	state := filepath.Join(resolve(root), ".workshop")
	release, err := lock.Acquire(ctx, state, waiting)
	if err != nil {
		return 0, err
	}
	defer release()
	programs, err := findPrograms(ctx, filepath.Join(state, "bin"))
	if err != nil {
		return 0, err
	}
	if err := end(ctx, slices.Values(programs)); err != nil {
		return 0, fmt.Errorf("ending all clusters: %w", err)
	}
	return len(programs), os.RemoveAll(state)
}
