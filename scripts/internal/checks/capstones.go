package checks

// Capstones: their given files are the chapter's, so that a learner starts where the chapter ends.

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"example.com/operators/scripts/internal/exercises"
)

// capstones: a file with the name of one in chapter 01 to 05 is the same as there, in the capstone's
// own chapter or, for the projects from 06 on, in chapter 05.
func capstones(_ context.Context, r *repository) error {
	all, err := exercises.All(r.root)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e exercises.Exercise) bool { return !e.IsCapstone() })
	for _, e := range all {
		files, err := filepath.Glob(e.File("*.go"))
		if err != nil {
			return err
		}
		model := e.Chapter.Dir
		if e.Chapter.IsProject() {
			model = filepath.Join(r.root, "05-controller-runtime")
		}
		for _, file := range files {
			name := filepath.Base(file)
			r.compareFiles(e.Path(name), file, filepath.Join(model, name))
		}
	}
	return nil
}

// compareFiles reports a file that differs from its model, if there is one.
func (r *repository) compareFiles(name, file, model string) {
	want, err := os.ReadFile(model)
	if err != nil {
		return // it is the exercise's own
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		r.report("%s: should be the same as %s", name, model)
	}
}
