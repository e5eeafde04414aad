// Package runs makes sure that nothing outlives a run of the tests. A run records its folders, and
// all processes that it starts, even in their own sessions, inherit a variable that names the run.
// If a run was killed, the next one, or Sweep, ends what is left of it.
package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/operators/scripts/internal/process"
)

// variable is the environment variable with the run's folder.
const variable = "WORKSHOP_RUN"

// Run is a run of tests, of which a repository has one at a time. Its paths are always the same,
// even that of its temporary files. Otherwise Go couldn't cache results of tests that create such
// files.
type Run struct {
	state   string // .workshop
	unique  string // a link to it
	mutex   sync.Mutex
	folders []string // the run's, relative to state
	kept    []string // of these
	former  map[string]string
	release func()
}

// Begin begins a run in the repository at root, and ends what a former run has left. If another run
// is in progress, it calls waiting once and waits. From then on, temporary files of this process
// and its children are in the run's folder. Call End.
func Begin(ctx context.Context, root string, waiting func(holder string)) (*Run, error) {
	r, err := newRun(root)
	if err != nil {
		return nil, err
	}
	// The system drops the lock of a process that dies, so the former run's process has ended.
	if r.release, err = process.Lock(ctx, filepath.Join(r.state, "tests"), waiting); err != nil {
		return nil, err
	}
	if err := errors.Join(r.clear(ctx), os.MkdirAll(r.temporary(), 0o700)); err != nil {
		r.release()
		return nil, fmt.Errorf("remove what a former run has left: %w", err)
	}
	if r.unique, err = r.Link(fmt.Sprintf("run-%d", time.Now().UnixNano())); err != nil {
		r.release()
		return nil, err
	}
	environment := map[string]string{
		variable:                  r.dir(),
		"TMPDIR":                  r.temporary(),
		"GIT_CEILING_DIRECTORIES": r.temporary(), // temporary folders aren't in this repository
	}
	for name, value := range environment {
		r.former[name] = os.Getenv(name)
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Sweep ends what a former run has left, unless a run is in progress.
func Sweep(ctx context.Context, root string) error {
	r, err := newRun(root)
	if err != nil {
		return err
	}
	if _, err := os.Stat(r.dir()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	trying, giveUp := context.WithCancel(ctx)
	defer giveUp()
	release, err := process.Lock(trying, filepath.Join(r.state, "tests"), func(string) { giveUp() })
	if trying.Err() != nil && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	return r.clear(ctx)
}

func newRun(root string) (*Run, error) {
	root, err := filepath.EvalSymlinks(root) // as processes know it
	return &Run{state: filepath.Join(root, ".workshop"), former: map[string]string{}}, err
}

func (r *Run) dir() string       { return filepath.Join(r.state, "run") }
func (r *Run) temporary() string { return filepath.Join(r.dir(), "tmp") }
func (r *Run) record() string    { return filepath.Join(r.dir(), "folders") }

// Own records folders of .workshop as this run's, with the processes in them, before it creates
// them.
func (r *Run) Own(folders ...string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.folders = append(r.folders, folders...)
	// Rename it, so that the record, by which folders are removed, never has half a name.
	written := r.record() + ".new"
	return errors.Join(os.WriteFile(written, []byte(strings.Join(r.folders, "\n")), 0o600), os.Rename(written, r.record()))
}

// Link returns another path to .workshop, which contains name and exists as long as the run.
func (r *Run) Link(name string) (string, error) {
	link := filepath.Join(r.dir(), name)
	return link, os.Symlink(r.state, link)
}

// Unique returns a path to a file of .workshop that no other run uses. Go's test cache compares
// environment variables, so it doesn't reuse results of a test that gets such a path in one.
func (r *Run) Unique(path string) string {
	within, err := filepath.Rel(r.state, path)
	if err != nil || !filepath.IsLocal(within) {
		return path
	}
	return filepath.Join(r.unique, within)
}

// Keep keeps a folder after this run, with the processes of clusters in it, unless the run is
// interrupted.
func (r *Run) Keep(folder string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.kept = append(r.kept, folder)
}

// End ends the run's processes and removes its folders. If ctx has ended, it doesn't keep any.
func (r *Run) End(ctx context.Context) error {
	for name, value := range r.former {
		_ = os.Setenv(name, value) // an empty TMPDIR counts as unset
	}
	defer r.release()
	if ctx.Err() == nil {
		r.folders = slices.DeleteFunc(r.folders, func(owned string) bool { return slices.Contains(r.kept, owned) })
		if err := r.Own(); err != nil {
			return err
		}
	}
	return r.clear(context.WithoutCancel(ctx))
}
