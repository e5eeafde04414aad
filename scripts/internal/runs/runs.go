// Package runs lets nothing outlive a run of the tests. A run records the folders that belong to it, and every process that it
// starts inherits a variable that names the run, also in a session of its own. If a run was killed, the next one ends what
// is left of it, and so does Sweep.
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

	"example.com/operators/scripts/internal/lock"
)

// variable has the run's folder, in the environment of its processes.
const variable = "WORKSHOP_RUN"

// Run is a run of tests. There is one at a time in a repository. Its names are always the same, that of the folder for temporary
// files too: otherwise Go couldn't serve results from its cache of tests that make such files.
type Run struct {
	state   string // .workshop
	unique  string // a link to it
	mutex   sync.Mutex
	folders []string // that belong to the run, relative to state
	kept    []string // of these
	former  map[string]string
	release func()
}

// Begin begins a run in the repository at root. It waits until no other run goes on there (waiting is called once if it has
// to), and ends what a former run has left. From then on, temporary files of this process and of all that it starts go to the
// run's folder. Call End.
func Begin(ctx context.Context, root string, waiting func(holder string)) (*Run, error) {
	r, err := newRun(root)
	if err != nil {
		return nil, err
	}
	// The system drops the lock of a process that dies. So if we get it, the former run's process is gone.
	if r.release, err = lock.Acquire(ctx, filepath.Join(r.state, "tests"), waiting); err != nil {
		return nil, err
	}
	if err := errors.Join(r.clear(ctx), os.MkdirAll(r.temporary(), 0o700)); err != nil {
		r.release()
		return nil, fmt.Errorf("removing what a former run has left: %w", err)
	}
	if r.unique, err = r.Link(fmt.Sprintf("run-%d", time.Now().UnixNano())); err != nil {
		r.release()
		return nil, err
	}
	environment := map[string]string{
		variable:                  r.dir(),
		"TMPDIR":                  r.temporary(),
		"GIT_CEILING_DIRECTORIES": r.temporary(), // a temporary folder isn't a part of this repository
	}
	for name, value := range environment {
		r.former[name] = os.Getenv(name)
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Sweep ends what a former run has left, unless a run goes on.
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
	release, err := lock.Acquire(trying, filepath.Join(r.state, "tests"), func(string) { giveUp() })
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

// Own says, before they are made, which folders of .workshop, and processes in them, are this run's.
func (r *Run) Own(folders ...string) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.folders = append(r.folders, folders...)
	// Renamed, so that the record never ends in the middle of a name: folders are removed by it.
	written := r.record() + ".new"
	return errors.Join(os.WriteFile(written, []byte(strings.Join(r.folders, "\n")), 0o600), os.Rename(written, r.record()))
}

// Link returns another path to .workshop, which lasts as long as the run and has name in it.
func (r *Run) Link(name string) (string, error) {
	link := filepath.Join(r.dir(), name)
	return link, os.Symlink(r.state, link)
}

// Unique returns a path to a file of .workshop that no other run uses. Go's test cache compares
// environment variables, so a test that gets its path from one isn't cached across runs.
func (r *Run) Unique(path string) string {
	within, err := filepath.Rel(r.state, path)
	if err != nil || !filepath.IsLocal(within) {
		return path
	}
	return filepath.Join(r.unique, within)
}

// Keep says that a folder is to stay after this run, with the processes of clusters in it, unless the run is interrupted.
func (r *Run) Keep(folder string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.kept = append(r.kept, folder)
}

// End ends the run's processes and removes its folders, even those to keep if ctx has ended.
func (r *Run) End(ctx context.Context) error {
	for name, value := range r.former {
		_ = os.Setenv(name, value) // an empty TMPDIR is none
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
