// Package exercises is the checker of the course's exercises: what `workshop check`, watch, hint, solution, reset and
// progress do, and the proof in `workshop test` that each exercise fails as given and passes as solved.
//
// An exercise is a folder, NN-chapter/exercises/K-slug, with these files:
//
//	README.md         "# K: Title", a line "Minutes: N", what to read first and what to do
//	exercise.go       //go:build !solution         the learner's: it compiles, and is incomplete
//	solution.go       //go:build solution          in its stead
//	exercise_test.go  //go:build check || solution judges both; it says what fails as given (prove.go)
//	hints.md          three sections: "A nudge", "An approach", "Nearly the answer"
//
// This file says which exercises there are; find.go, which one a user means. texts.go and hints.go read their texts. A check
// (check.go) runs go test (run.go), makes of what it prints what a learner wants to know (verdict.go, crash.go, source.go) and
// shows that (print.go). What was passed is kept by progress.go, and shown by table.go. catchup.go puts solutions in a learner's place. Watch mode is in watch.go, saves.go and
// terminal.go. The exercise as it was given (committed.go) is what reset.go puts back, and what is proved by prove.go and
// judge.go.
package exercises

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"example.com/operators/scripts/internal/chapters"
)

// The files of an exercise, and the folder in which a chapter has its exercises.
const (
	folder       = "exercises"
	readmeFile   = "README.md"
	exerciseFile = "exercise.go"
	solutionFile = "solution.go"
	testFile     = "exercise_test.go"
	hintsFile    = "hints.md"
)

// The build tags: a learner's check, and the solution in place of exercise.go.
const (
	tagCheck    = "check"
	tagSolution = "solution"
)

// Exercise is one exercise.
type Exercise struct {
	Chapter chapters.Chapter
	// Number is the exercise's place in the chapter, from 1.
	Number int
	// Folder is the folder's name, such as 1-resume.
	Folder string
	// Title and Minutes (the time that it is expected to take) are the README's. Where that doesn't say, the title is the
	// folder's name, and the minutes are 0.
	Title   string
	Minutes int
}

// Name is how the commands call it, such as 01/1.
func (e Exercise) Name() string { return fmt.Sprintf("%s/%d", e.Chapter.Number(), e.Number) }

// Dir is the absolute path of its folder.
func (e Exercise) Dir() string { return filepath.Join(e.Chapter.Dir, folder, e.Folder) }

// File is the absolute path of one of its files.
func (e Exercise) File(name string) string { return filepath.Join(e.Dir(), name) }

// Path is File relative to the repository's root, with slashes: as a reader in the root types it.
func (e Exercise) Path(name string) string {
	return path.Join(e.Chapter.Name, folder, e.Folder, name)
}

var folderName = regexp.MustCompile(`^([1-9][0-9]?)-[a-z0-9-]+$`)

// All returns the exercises of all chapters below root, in order.
func All(root string) ([]Exercise, error) {
	all, err := chapters.All(root)
	if err != nil {
		return nil, err
	}
	return inChapters(all)
}

func inChapters(all []chapters.Chapter) ([]Exercise, error) {
	var found []Exercise
	for _, chapter := range all {
		exercises, err := In(chapter)
		if err != nil {
			return nil, err
		}
		found = append(found, exercises...)
	}
	return found, nil
}

// In returns the exercises of one chapter, in order. Not every chapter has some.
func In(chapter chapters.Chapter) ([]Exercise, error) {
	names, err := subfolders(chapter)
	if err != nil {
		return nil, err
	}
	var found []Exercise
	for _, name := range names {
		match := folderName.FindStringSubmatch(name)
		if match == nil {
			continue // the proof complains about it
		}
		number, err := strconv.Atoi(match[1])
		if err != nil {
			return nil, err
		}
		exercise := Exercise{Chapter: chapter, Number: number, Folder: name, Title: name}
		if about, err := readAbout(exercise); err == nil {
			exercise.Title, exercise.Minutes = about.title, about.minutes
		}
		found = append(found, exercise)
	}
	slices.SortStableFunc(found, func(a, b Exercise) int { return a.Number - b.Number })
	return found, nil
}

// subfolders are the names of what a chapter has in its folder of exercises.
func subfolders(chapter chapters.Chapter) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(chapter.Dir, folder))
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("list the exercises of %s: %w", chapter.Name, err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
