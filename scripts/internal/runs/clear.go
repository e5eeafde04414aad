package runs

// Ending what belongs to a run. Processes are found by their program's folder or their environment,
// never by their names.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
)

// clear ends the recorded run's processes, and removes its folders, the one with the record last.
func (r *Run) clear(ctx context.Context) error {
	record, err := os.ReadFile(r.record())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var folders []string
	for folder := range strings.FieldsSeq(string(record)) {
		if filepath.IsLocal(folder) {
			folders = append(folders, filepath.Join(r.state, folder))
		}
	}
	folders = append(folders, r.dir())
	find := func(ctx context.Context) ([]*gopsutil.Process, error) {
		return process.Find(ctx, func(p *gopsutil.Process) (*gopsutil.Process, bool) { return p, belongs(ctx, p, folders) })
	}
	if err := process.Kill(ctx, find); err != nil {
		return fmt.Errorf("ending the processes of a run: %w", err)
	}
	for _, folder := range folders {
		if err := removeAll(folder); err != nil {
			return err
		}
	}
	return nil
}

// belongs reports whether a process belongs to a run with these folders, or to a run of a
// repository in one of them. Its program may also be in them, as a cluster's components are.
func belongs(ctx context.Context, p *gopsutil.Process, folders []string) bool {
	if int(p.Pid) == os.Getpid() {
		return false
	}
	within := func(path string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool {
			return path == folder || strings.HasPrefix(path, folder+string(filepath.Separator))
		})
	}
	if args, err := p.CmdlineSliceWithContext(ctx); err == nil && len(args) > 0 && within(args[0]) {
		return true
	}
	environment, _ := p.EnvironWithContext(ctx) // other users' processes, which don't show it, aren't ours
	return slices.ContainsFunc(environment, func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		return name == variable && within(value)
	})
}

// removeAll removes a folder, even if folders in it are read-only, as in Go's module cache.
func removeAll(folder string) error {
	if os.RemoveAll(folder) == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	return os.RemoveAll(folder)
}
