package suite

// The beginning and the end of a run. Nothing outlives a run, even if it was killed: all processes that
// it starts, also those in sessions of their own, inherit a variable that names its folder. Clusters
// don't inherit it. A run deletes its own, and the next run those that a killed run has left.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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

// runFolder is always the same, because Go couldn't cache results of tests that create temporary files
// in another folder each time.
func runFolder(root string) string { return filepath.Join(stateOf(root), "run") }

// begin returns when no other run is in progress in this repository, because two would delete each
// other's clusters. From then on, temporary files of this process and its children are in the run's
// folder. end adds what went wrong to the run's error. The commands in the texts run in a copy of the
// repository, and so don't wait for this run.
func (s *Suite) begin(ctx context.Context) (end func(result *error), err error) {
	step := s.UI.Start("tests")
	defer step.Drop()
	release, err := lockRuns(ctx, s.Root, func(holder string) { step.Update("waiting for %s", holder) })
	if err != nil {
		return nil, err
	}
	if err := errors.Join(endRun(ctx, s.Root), s.makeFolder()); err != nil {
		release()
		return nil, err
	}
	return func(result *error) {
		defer release()
		folders := []string{filepath.Join(stateOf(s.Root), proofs)}
		if ctx.Err() != nil || !s.keepsCopy {
			folders = append(folders, readersCopy(s.Root))
		}
		*result = errors.Join(*result, endRun(context.WithoutCancel(ctx), s.Root, folders...))
	}, nil
}

// Sweep ends what a killed run has left, unless a run is in progress.
func Sweep(ctx context.Context, root string) error {
	if _, err := os.Stat(runFolder(root)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	trying, giveUp := context.WithCancel(ctx)
	defer giveUp()
	release, err := lockRuns(trying, root, func(string) { giveUp() })
	if err != nil {
		if trying.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	defer release()
	return endRun(ctx, root)
}

// lockRuns waits for another run. The system drops the lock of a process that dies.
func lockRuns(ctx context.Context, root string, waiting func(holder string)) (release func(), err error) {
	return process.Lock(ctx, filepath.Join(stateOf(root), "tests"), waiting)
}

// makeFolder makes the run's folder, and has this process and its children use it. In it are two more
// paths to .workshop: one that no other run uses, and one that only changes with the control plane.
func (s *Suite) makeFolder() error {
	folder := runFolder(s.Root)
	temporary := filepath.Join(folder, "tmp")
	s.unique = filepath.Join(folder, fmt.Sprintf("run-%d", time.Now().UnixNano()))
	sameControlPlane := filepath.Join(folder, "control-plane-"+s.Version)
	s.programs = filepath.Join(sameControlPlane, filepath.Base(s.Bin))
	return errors.Join(
		os.MkdirAll(temporary, 0o700),
		os.Symlink(stateOf(s.Root), s.unique),
		os.Symlink(stateOf(s.Root), sameControlPlane),
		os.Setenv(runVariable, folder),
		os.Setenv("TMPDIR", temporary),
		os.Setenv("GIT_CEILING_DIRECTORIES", temporary), // temporary folders aren't in this repository
	)
}

// uniquely returns a path to a file of .workshop that no other run uses. Go's test cache compares
// environment variables, so it doesn't reuse results of a test that gets such a path in one.
func (s *Suite) uniquely(path string) string {
	return strings.Replace(path, stateOf(s.Root), s.unique, 1)
}

// endRun ends the processes of a run, and removes its folder and these.
func endRun(ctx context.Context, root string, folders ...string) error {
	err := process.Kill(ctx, func(ctx context.Context) ([]*gopsutil.Process, error) {
		return process.Find(ctx, func(p *gopsutil.Process) (*gopsutil.Process, bool) { return p, inherits(ctx, p, root) })
	})
	if err != nil {
		return fmt.Errorf("ending the processes of a run: %w", err)
	}
	for _, folder := range append(folders, runFolder(root)) {
		if os.RemoveAll(folder) == nil {
			continue
		}
		// Folders may be read-only, as in Go's module cache.
		_ = exec.CommandContext(ctx, "chmod", "-R", "u+w", folder).Run()
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return err
}

// inherits reports whether a process belongs to a run in the repository or in its copy for the texts.
func inherits(ctx context.Context, p *gopsutil.Process, root string) bool {
	environment, _ := p.EnvironWithContext(ctx) // other users' processes, which don't show it, aren't ours
	return int(p.Pid) != os.Getpid() && slices.ContainsFunc(environment, func(entry string) bool {
		return strings.HasPrefix(entry, runVariable+"="+stateOf(root)+string(filepath.Separator))
	})
}
