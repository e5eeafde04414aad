package suite

// The beginning and the end of a run. No process outlives a run: all that it starts, also those in
// sessions of their own, inherit a variable that names its folder. A run ends its own, and those of a
// run that was killed. Clusters don't inherit the variable, and are deleted by name.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
)

// runVariable is the environment variable with the run's folder.
const runVariable = "WORKSHOP_RUN"

func stateOf(root string) string { return filepath.Join(root, ".workshop") }

func binOf(root string) string { return filepath.Join(stateOf(root), "bin") }

func runFolder(root string) string { return filepath.Join(stateOf(root), "run") }

// during runs the steps while no other run is in progress in this repository, because two would
// delete each other's clusters. The commands in the texts run in a copy of the repository, and so
// don't wait for this run.
func (s *Suite) during(ctx context.Context, steps func() error) error {
	step := s.UI.Start("tests")
	release, err := process.Lock(ctx, filepath.Join(stateOf(s.Root), "tests"), func(holder string) {
		step.Update("waiting for %s", holder)
	})
	step.Drop()
	if err != nil {
		return err
	}
	defer release()
	if err := errors.Join(s.clean(ctx), s.makeFolder()); err != nil {
		return err
	}
	return errors.Join(steps(), s.clean(context.WithoutCancel(ctx)))
}

// makeFolder makes the run's folder. In it is another path to .workshop, which no other run uses.
func (s *Suite) makeFolder() error {
	folder := runFolder(s.Root)
	s.unique = filepath.Join(folder, fmt.Sprintf("run-%d", time.Now().UnixNano()))
	return errors.Join(
		os.MkdirAll(folder, 0o700), os.Symlink(stateOf(s.Root), s.unique), os.Setenv(runVariable, folder))
}

// uniquely returns a path to a file of .workshop that no other run uses. Go's test cache compares
// environment variables, so it doesn't reuse results of a test that gets such a path in one.
func (s *Suite) uniquely(path string) string {
	return strings.Replace(path, stateOf(s.Root), s.unique, 1)
}

// clean ends the processes of runs, and removes their folder.
func (s *Suite) clean(ctx context.Context) error {
	err := process.Kill(ctx, func(ctx context.Context) ([]*gopsutil.Process, error) {
		return process.Find(ctx, func(p *gopsutil.Process) (*gopsutil.Process, bool) {
			return p, inherits(ctx, p, s.Root)
		})
	})
	if err != nil {
		return fmt.Errorf("ending the processes of a run: %w", err)
	}
	return os.RemoveAll(runFolder(s.Root))
}

// inherits reports whether a process belongs to a run in the repository or in its copy for the texts.
func inherits(ctx context.Context, p *gopsutil.Process, root string) bool {
	environment, _ := p.EnvironWithContext(ctx) // other users' processes, which don't show it, aren't ours
	return int(p.Pid) != os.Getpid() && slices.ContainsFunc(environment, func(entry string) bool {
		return strings.HasPrefix(entry, runVariable+"="+stateOf(root)+string(filepath.Separator))
	})
}
