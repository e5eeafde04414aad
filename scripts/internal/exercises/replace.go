package exercises

// Reset restores what the learner was given, and keeps the learner's version in .workshop/kept.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/problem"
)

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
		r.Named = false // a ticket asks for its cause again
		if changed, kept, err = replace(root, e, given, now); changed {
			r.Passing = false
		}
		return err
	})
	return changed, kept, err
}

const keptFolder = "kept" // in .workshop

// Own returns patterns for the learner's files in .workshop: progress, even renamed, and kept work.
func Own() []string { return []string{"progress*.json", keptFolder} }

// replace replaces exercise.go, and keeps the learner's in a new file, whose path it returns, relative
// to root. The caller holds change's lock.
func replace(root string, e Exercise, content []byte, now time.Time) (changed bool, kept string, err error) {
	own, err := os.ReadFile(e.File(ExerciseFile))
	switch {
	case err == nil && bytes.Equal(own, content):
		return false, "", nil
	case err == nil:
		kept, err = keep(root, e, own, now)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return false, "", err
	}
	return true, kept, replaceFile(e.File(ExerciseFile), content)
}

func keep(root string, e Exercise, own []byte, now time.Time) (string, error) {
	err := os.MkdirAll(filepath.Join(root, ".workshop", keptFolder), 0o700)
	name := fmt.Sprintf("%s-%d-%s", e.Chapter.Number(), e.Number, now.Format("20060102T150405"))
	stem := filepath.Join(".workshop", keptFolder, name)
	path := stem + ".go"
	for n := 2; chapters.Exists(filepath.Join(root, path)); n++ {
		path = fmt.Sprintf("%s-%d.go", stem, n)
	}
	return path, errors.Join(err, os.WriteFile(filepath.Join(root, path), own, 0o600))
}

// replaceFile replaces a file atomically, so that no interrupt leaves half of it.
func replaceFile(path string, content []byte) error {
	next := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(next, content, 0o644); err != nil {
		return err
	}
	return os.Rename(next, path)
}
