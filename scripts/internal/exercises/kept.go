package exercises

// Replacing exercise.go without losing the learner's own.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// keptFolder is where a learner's work is kept, in .workshop.
const keptFolder = "kept"

// Own are the patterns of what belongs to the learner in .workshop: progress, under whatever name it was moved to, and the
// work that reset and catch-up have kept.
func Own() []string { return []string{"progress*.json", keptFolder} }

// keep writes a learner's work to a file that nothing overwrites, and returns its path relative to root.
func keep(root string, e Exercise, own []byte, now time.Time) (string, error) {
	dir := filepath.Join(".workshop", keptFolder)
	if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
		return "", err
	}
	stem := fmt.Sprintf("%s-%d-%s", e.Chapter.Number(), e.Number, now.Format("20060102T150405"))
	name := stem + ".go"
	for n := 2; ; n++ {
		file, err := os.OpenFile(filepath.Join(root, dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			name = fmt.Sprintf("%s-%d.go", stem, n)
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(own)
		return filepath.Join(dir, name), errors.Join(err, file.Close())
	}
}

// replaceFile writes a file so that at every moment either the old or the new one is there, and whole.
func replaceFile(path string, content []byte, mode os.FileMode) error {
	next := fmt.Sprintf("%s.%d", path, os.Getpid())
	err := os.WriteFile(next, content, mode)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		_ = os.Remove(next)
	}
	return err
}
