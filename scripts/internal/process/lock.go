package process

// One workshop command at a time changes a .workshop folder, and the next one waits. Commands that
// only read don't take the lock.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"example.com/operators/scripts/internal/problem"
)

// Lock takes the lock of a folder, which it creates if necessary. If another command holds the lock,
// it calls waiting with that command's name (unless waiting is nil), and waits. The system drops the
// lock of a process that dies. The caller must call release.
func Lock(ctx context.Context, dir string, waiting func(holder string)) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, problem.New("can't write to %s", filepath.Dir(dir)).
			ToDo("copy the repository to a folder that you can write to").
			Because(err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	locked, err := lock.TryLock()
	if err == nil && !locked {
		if holder, _ := os.ReadFile(lock.Path()); waiting != nil {
			waiting(string(holder))
		}
		_, err = lock.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return nil, err
	}
	command := strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " ")
	holder := fmt.Sprintf("%q (pid %d)", command, os.Getpid())
	_ = os.WriteFile(lock.Path(), []byte(holder), 0o600) // it only informs, so it may fail
	return func() { _ = lock.Unlock() }, nil
}
