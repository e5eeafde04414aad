package cluster

// Which processes belong to the cluster. Pid files aren't reliable, because after a reboot another
// process may have the number. What counts is a process's executable, and its first argument, which
// contains the cluster's folder.

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
)

type program struct {
	*gopsutil.Process
	component  string
	home       string // kwokctl's folder of its cluster
	executable string
	replaced   bool // the file on disk is another one now
}

// running finds the cluster's processes, by component.
func (c *Cluster) running(ctx context.Context) (map[string]program, error) {
	programs, err := findPrograms(ctx, c.bin)
	found := map[string]program{}
	for _, p := range programs {
		if p.home == c.kwok() {
			found[p.component] = p
		}
	}
	return found, err
}

// Strays are processes of clusters whose folder was removed or moved by hand. Purge ends them.
func (c *Cluster) Strays(ctx context.Context) (pids []int, err error) {
	programs, err := findPrograms(ctx, c.bin)
	for _, p := range programs {
		if _, err := os.Stat(p.home); errors.Is(err, fs.ErrNotExist) {
			pids = append(pids, int(p.Pid))
		}
	}
	return pids, err
}

// findPrograms finds the processes of all clusters that use the programs in bin.
func findPrograms(ctx context.Context, bin string) ([]program, error) {
	executables := executables(bin)
	return process.Find(ctx, func(p *gopsutil.Process) (program, bool) { return identify(ctx, p, executables) })
}

// identify reports whether kwokctl has started the process, by the path HOME/bin/COMPONENT.
func identify(ctx context.Context, p *gopsutil.Process, executables map[string]bool) (program, bool) {
	path, err := p.ExeWithContext(ctx)                            // unknown of other users' processes, and of the dead
	executable, replaced := strings.CutSuffix(path, " (deleted)") // Linux says so
	if err != nil || !executables[executable] {
		return program{}, false
	}
	args, err := p.CmdlineSliceWithContext(ctx)
	if err != nil || len(args) == 0 || filepath.Base(filepath.Dir(args[0])) != "bin" {
		return program{}, false
	}
	return program{
		Process:    p,
		component:  filepath.Base(args[0]),
		home:       filepath.Dir(filepath.Dir(args[0])),
		executable: executable,
		replaced:   replaced,
	}, true
}

// executables are the components' programs in bin, with links resolved.
func executables(bin string) map[string]bool {
	found := map[string]bool{}
	for _, binary := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"} {
		found[resolve(filepath.Join(bin, binary))] = true
	}
	return found
}

// writePIDFiles corrects kwokctl's pid files, because kwokctl believes any that names a process.
func (c *Cluster) writePIDFiles(running map[string]program) error {
	dir := filepath.Join(c.kwok(), "pids")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	for component, p := range running {
		if err := os.WriteFile(filepath.Join(dir, component+".pid"), []byte(strconv.Itoa(int(p.Pid))), 0o600); err != nil {
			return err
		}
	}
	return nil
}
