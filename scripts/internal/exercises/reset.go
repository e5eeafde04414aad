package exercises

// Restoring an exercise as it was given: as git has it, whatever the learner has made of it since.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"example.com/operators/scripts/internal/git"
	"example.com/operators/scripts/internal/problem"
)

var (
	// ErrNoGit says that there is no git command, or no git repository that it accepts.
	ErrNoGit = errors.New("git doesn't know this folder")
	// ErrNotCommitted says that the last commit doesn't have this file or folder.
	ErrNotCommitted = errors.New("git doesn't have it")
)

// Committed returns git's name for the last commit's version of a file or folder. Its path is relative to root.
func Committed(ctx context.Context, root, path string) (object string, err error) {
	output, err := git.Run(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD:./"+path)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 1: // the answer to --verify
		return "", ErrNotCommitted
	case errors.As(err, &exit), errors.Is(err, git.ErrNone):
		return "", fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	return strings.TrimSpace(string(output)), err
}

// Reset restores exercise.go as it was committed, and keeps the learner's own if it differs. It reports whether the file has
// changed, and the path of the learner's own relative to root: "" if the file was missing.
func Reset(ctx context.Context, root string, e Exercise, now time.Time) (changed bool, kept string, err error) {
	path := e.Path(ExerciseFile)
	object, err := Committed(ctx, root, path)
	switch {
	case errors.Is(err, ErrNoGit):
		return false, "", &problem.Problem{What: "can't restore " + path, Mend: "take the file from where you got this folder; a git clone has all that reset needs", Err: err}
	case errors.Is(err, ErrNotCommitted):
		return false, "", &problem.Problem{What: "can't restore " + path, Mend: "commit it first, if you are its author", Err: err}
	case err != nil:
		return false, "", err
	}
	given, err := git.Run(ctx, root, "cat-file", "blob", object)
	if err != nil {
		return false, "", fmt.Errorf("restore %s: %w", path, err)
	}
	own, err := os.ReadFile(e.File(ExerciseFile))
	switch {
	case err == nil && bytes.Equal(own, given):
		return false, "", nil
	case err == nil:
		kept, err = keep(root, e, own, now)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return false, "", fmt.Errorf("keep your own %s: %w", path, err)
	}
	if err := replaceFile(e.File(ExerciseFile), given, 0o644); err != nil {
		return false, kept, fmt.Errorf("restore %s: %w", path, err)
	}
	return true, kept, UpdateProgress(ctx, root, e, func(r *Record) { r.Passing = false })
}
