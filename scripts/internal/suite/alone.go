package suite

// One run at a time: two would take each other's clusters away, and the reader's copy of the repository.

import (
	"context"
	"path/filepath"

	"example.com/operators/scripts/internal/lock"
)

// alone returns when no other run goes on in this repository; release lets the next one begin. The lock is one of its own: whoever holds it
// still brings clusters up and ends them. The commands in the texts run in another repository, the reader's copy, and so don't wait for the
// run that has started them.
func (s *Suite) alone(ctx context.Context) (release func(), err error) {
	step := s.UI.Start("tests")
	defer step.Drop()
	return lock.Acquire(ctx, filepath.Join(s.Root, ".workshop", "tests"), func(holder string) { step.Update("waiting for %s", holder) })
}
