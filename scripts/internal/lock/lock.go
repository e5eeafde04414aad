// Package lock lets one workshop command at a time change a .workshop folder, and the next one
// waits. Commands that only read don't take the lock.
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

// Acquire takes the lock of a .workshop folder, which it creates if necessary. If another command
// holds the lock, it calls waiting once with that command's name (unless waiting is nil), and
// waits. The system drops the lock of a process that dies. The caller must call release.
func Acquire(ctx context.Context, dir string, waiting func(holder string)) (release func(), err error) {
	path := filepath.Join(dir, "lock")
	reported := false
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
			_ = os.WriteFile(path, []byte(holder()), 0o600) // it only informs, so it may fail
			return true, nil
		}
		_ = f.Unlock() // `down --purge` may have removed the locked file
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // the folder was removed just now
		}
		if !locked && err == nil && !reported && waiting != nil {
			if text, _ := os.ReadFile(path); len(text) > 0 { // the holder has written its name
				waiting(string(text))
				reported = true
			}
		}
		return false, err
	})
	return release, err
}

// current reports whether the locked file is still the one at its path.
func current(f *flock.Flock) bool {
	locked, err := f.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(f.Path())
	return err == nil && os.SameFile(locked, found)
}

func holder() string {
	return fmt.Sprintf("%q (pid %d)", strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " "), os.Getpid())
}
