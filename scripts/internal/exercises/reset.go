package exercises

// Resetting an exercise to the committed version, and keeping the learner's.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"example.com/operators/scripts/internal/git"
	"example.com/operators/scripts/internal/problem"
)

var (
	// ErrNoGit means that there is no git command, or no git repository that it accepts.
	ErrNoGit        = errors.New("git doesn't know this folder")
	ErrNotCommitted = errors.New("git doesn't have it")
)

// Committed returns git's object name of a file or folder in the last commit. path is relative to
// root.
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

// Reset restores the committed exercise.go. If the learner's file differs, it is kept at the
// returned path, relative to root.
func Reset(ctx context.Context, root string, e Exercise, now time.Time) (changed bool, kept string, err error) {
	path := e.Path(ExerciseFile)
	object, err := Committed(ctx, root, path)
	switch {
	case errors.Is(err, ErrNoGit):
		return false, "", problem.New("can't restore %s", path).
			ToDo("copy the file from where you got this folder; a git clone has everything that reset needs").
			Because(err)
	case errors.Is(err, ErrNotCommitted):
		return false, "", problem.New("can't restore %s", path).ToDo("commit it first, if you are its author").Because(err)
	case err != nil:
		return false, "", err
	}
	given, err := git.Run(ctx, root, "cat-file", "blob", object)
	if err != nil {
		return false, "", fmt.Errorf("restore %s: %w", path, err)
	}
	err = update(ctx, root, func(progress Progress) error {
		own, err := readIfExists(e.File(ExerciseFile))
		if err == nil && bytes.Equal(own, given) {
			return nil
		}
		if own != nil {
			kept, err = keep(root, e, own, now)
		}
		if err != nil {
			return fmt.Errorf("keep your own %s: %w", path, err)
		}
		if err := replaceFile(e.File(ExerciseFile), given, 0o644); err != nil {
			return fmt.Errorf("restore %s: %w", path, err)
		}
		changed = true
		progress.change(e, func(r *Record) { r.Passing = false })
		return nil
	})
	return changed, kept, err
}

const keptFolder = "kept" // in .workshop

// Own returns patterns for the learner's files in .workshop: progress, even renamed, and kept work.
func Own() []string { return []string{"progress*.json", keptFolder} }

// keep writes a learner's work to a new file, and returns its path relative to root. The caller
// holds update's lock.
func keep(root string, e Exercise, own []byte, now time.Time) (string, error) {
	err := os.MkdirAll(filepath.Join(root, ".workshop", keptFolder), 0o700)
	stem := filepath.Join(".workshop", keptFolder, fmt.Sprintf("%s-%d-%s", e.Chapter.Number(), e.Number, now.Format("20060102T150405")))
	path := stem + ".go"
	for n := 2; exists(filepath.Join(root, path)); n++ {
		path = fmt.Sprintf("%s-%d.go", stem, n)
	}
	return path, errors.Join(err, os.WriteFile(filepath.Join(root, path), own, 0o600))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// replaceFile replaces a file atomically.
func replaceFile(path string, content []byte, mode os.FileMode) error {
	next := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(next) // exists only after an error
	if err := os.WriteFile(next, content, mode); err != nil {
		return err
	}
	return os.Rename(next, path)
}
