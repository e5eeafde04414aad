package exercises

// Putting an exercise back, and keeping what the learner had made of it.

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
)

// Change is what a reset has done.
type Change struct {
	Restored bool   // the file is another one than before
	Kept     string // where the learner's own is now, relative to root; "": it was missing
}

// Reset puts exercise.go back as it was committed, and keeps the learner's own.
func Reset(ctx context.Context, root string, e Exercise, now time.Time) (Change, error) {
	var change Change
	given, err := committedFile(ctx, root, e.Path(exerciseFile))
	if err != nil {
		return change, whyNotGiven(e, err)
	}
	own, err := os.ReadFile(e.File(exerciseFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return change, fmt.Errorf("read your own %s: %w", e.Path(exerciseFile), err)
	case bytes.Equal(own, given):
		return change, nil
	default:
		if change.Kept, err = keep(root, e, own, now); err != nil {
			return change, fmt.Errorf("keep your own %s: %w", e.Path(exerciseFile), err)
		}
	}
	if err := replaceFile(e.File(exerciseFile), given, 0o644); err != nil {
		return change, fmt.Errorf("put %s back: %w", e.Path(exerciseFile), err)
	}
	change.Restored = true
	return change, UpdateProgress(ctx, root, e, func(r *Record) { r.Passing = false })
}

func whyNotGiven(e Exercise, err error) error {
	what := fmt.Sprintf("%s can't be put back", e.Path(exerciseFile))
	switch {
	case errors.Is(err, errNoGit):
		return &problem.Problem{What: what, Mend: "take the file from where you got this folder; a git clone has all that reset needs", Err: err}
	case errors.Is(err, errNotCommitted):
		return &problem.Problem{What: what, Mend: "commit it first, if you are its author", Err: err}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// keptFolder is where learners' own work is kept, in .workshop.
const keptFolder = "kept"

// keep writes a learner's own work to a file that nobody overwrites, and returns its path relative to root.
func keep(root string, e Exercise, own []byte, now time.Time) (string, error) {
	dir := filepath.Join(".workshop", keptFolder)
	if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
		return "", err
	}
	stem := fmt.Sprintf("%s-%d-%s", e.Chapter.Number(), e.Number, now.Format("20060102T150405"))
	for n := 1; ; n++ {
		name := stem + ".go"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.go", stem, n)
		}
		file, err := os.OpenFile(filepath.Join(root, dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(own)
		return filepath.Join(dir, name), errors.Join(err, file.Close())
	}
}
