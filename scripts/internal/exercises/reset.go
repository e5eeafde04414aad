package exercises

// Resetting an exercise to the committed version, and keeping the learner's.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// Committed returns exercise.go as in the last commit, which is what the learner was given.
func (e Exercise) Committed(ctx context.Context) ([]byte, error) {
	return process.Git(ctx, e.Dir(), "cat-file", "blob", "HEAD:./"+ExerciseFile)
}

// Reset restores the committed exercise.go. If the learner's file differs, it is kept at the
// returned path, relative to root.
func Reset(ctx context.Context, root string, e Exercise, now time.Time) (changed bool, kept string, err error) {
	given, err := e.Committed(ctx)
	if err != nil {
		return false, "", problem.New("can't restore %s", e.Path(ExerciseFile)).
			ToDo("copy the file from where you got this folder; a git clone has everything that reset needs").
			Because(err)
	}
	err = change(root, e, func(r *Record) error {
		own, err := os.ReadFile(e.File(ExerciseFile))
		r.Named = false // a ticket asks for its cause again
		switch {
		case err == nil && bytes.Equal(own, given):
			return nil
		case err == nil:
			kept, err = keep(root, e, own, now)
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		}
		if err != nil {
			return err
		}
		changed, r.Passing, r.CaughtUp = true, false, false
		return replaceFile(e.File(ExerciseFile), given)
	})
	return changed, kept, err
}

const keptFolder = "kept" // in .workshop

// Own returns patterns for the learner's files in .workshop: progress, even renamed, and kept work.
func Own() []string { return []string{"progress*.json", keptFolder} }

// keep writes a learner's work to a new file, and returns its path relative to root. The caller
// holds change's lock.
func keep(root string, e Exercise, own []byte, now time.Time) (string, error) {
	err := os.MkdirAll(filepath.Join(root, ".workshop", keptFolder), 0o700)
	name := fmt.Sprintf("%s-%d-%s", e.Chapter.Number(), e.Number, now.Format("20060102T150405"))
	stem := filepath.Join(".workshop", keptFolder, name)
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

// replaceFile replaces a file atomically, so that no interrupt leaves half of it.
func replaceFile(path string, content []byte) error {
	next := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(next, content, 0o644); err != nil {
		return err
	}
	return os.Rename(next, path)
}
