package cluster

// Which processes belong to the cluster. A file with process IDs wouldn't be reliable, because after
// a reboot another process may have the number. What counts is a process's executable, and its first
// argument, which contains the cluster's folder.

import (
	"context"
	"path/filepath"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
)

type program struct {
	*gopsutil.Process
	component string
	home      string // its cluster's folder
}

// running finds the cluster's processes, by component.
func (c *Cluster) running(ctx context.Context) (map[string]program, error) {
	programs, err := findPrograms(ctx, c.state)
	found := map[string]program{}
	for _, p := range programs {
		if p.home == c.dir {
			found[p.component] = p
		}
	}
	return found, err
}

// findPrograms finds the processes of all clusters that use the program in that .workshop.
func findPrograms(ctx context.Context, state string) ([]program, error) {
	want := resolve(executable(state))
	return process.Find(ctx, func(p *gopsutil.Process) (program, bool) { return identify(ctx, p, want) })
}

// identify reports whether a process is a component of a cluster, by its first argument,
// HOME/COMPONENT.
func identify(ctx context.Context, p *gopsutil.Process, want string) (program, bool) {
	path, err := p.ExeWithContext(ctx) // unknown of other users' processes, and of the dead
	// Linux says so if the file has been built again since.
	if err != nil || strings.TrimSuffix(path, " (deleted)") != want {
		return program{}, false
	}
	args, err := p.CmdlineSliceWithContext(ctx)
	if err != nil || len(args) == 0 || !filepath.IsAbs(args[0]) {
		return program{}, false
	}
	return program{p, filepath.Base(args[0]), filepath.Dir(args[0])}, true
}
