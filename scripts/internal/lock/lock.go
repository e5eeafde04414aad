// Package lock lets one workshop command at a time change a .workshop folder; the next one waits, and says for whom.
// Commands that only read don't take it.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/problem"
)

// Acquire takes the lock of a .workshop folder, which it makes if need be. If another command holds it, waiting is called
// once with that command's name (unless waiting is nil), and Acquire goes on as soon as the other has ended. The system
// drops the lock of a process that dies. The holder of the lock must call release.
func Acquire(ctx context.Context, dir string, waiting func(holder string)) (release func(), err error) {
	path := filepath.Join(dir, "lock")
	said := false
	err = wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return false, problem.New("can't write to %s", filepath.Dir(dir)).
				ToDo("copy the repository to a folder that you can write to").
				Because(err)
		}
		f := flock.New(path)
		locked, err := f.TryLock()
		if locked && current(f) {
			release = func() { _ = f.Unlock() }
			_ = os.WriteFile(path, []byte(holder()), 0o600) // for the reader's comfort only: a full disk may refuse it
			return true, nil
		}
		_ = f.Unlock() // a file that `down --purge` has removed meanwhile protects nothing
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // the folder was removed just now
		}
		if !locked && err == nil && !said && waiting != nil {
			if text, _ := os.ReadFile(path); len(text) > 0 { // otherwise its holder hasn't written its name yet
				waiting(string(text))
				said = true
			}
		}
		return false, err
	})
	return release, err
}

// current reports whether the locked file is still the one that others find at its path.
func current(f *flock.Flock) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(f.Path())
	return err == nil && os.SameFile(locked, found)
}

// holder is what the next command reads about this one.
func holder() string {
	return fmt.Sprintf("%q (pid %d)", strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " "), os.Getpid())
}
