// Package exercises finds the course's exercises, reads their files, and records a learner's
// progress. verdict runs the tests of exercises and explains the result; watch does so at each
// save; package suite proves that each exercise fails as given and passes as solved.
//
// An exercise is a folder, NN-chapter/exercises/K-slug, with these files:
//
//	README.md         "# K: Title", "Minutes: N" (or "Minutes: N, core path"), and the task
//	answer.md         what you know now, and the answer to the question; "check" shows it after a pass
//	exercise.go       //go:build !solution         the learner's: it compiles, and is incomplete
//	solution.go       //go:build solution          replaces it
//	exercise_test.go  //go:build check || solution tests both; suite/proof.go explains its first comment
//	hints.md          three sections: "A nudge", "An approach", "Nearly the answer"
//	mistakes.yaml     at least three wrong answers, and the tests that reject them: see suite/mistakes.go
//	cause.yaml        only in tickets: the question about the cause, and its answers
//	judge.yaml        only in capstones: what the learner's program manages, for the judge
//
// progress.go records what was passed, and table.go shows it. replace.go restores exercise.go, and
// keeps the learner's version.
package exercises

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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
	Folder       = "exercises"
	ReadmeFile   = "README.md"
	ExerciseFile = "exercise.go"
	SolutionFile = "solution.go"
	TestFile     = "exercise_test.go"
	HintsFile    = "hints.md"
	AnswerFile   = "answer.md"
)

// The build tags: a learner's check, and the solution in place of exercise.go.
const (
	TagCheck    = "check"
	TagSolution = "solution"
)

// WorkMark marks the places in exercise.go where the learner works.
const WorkMark = "YOUR WORK"

type Exercise struct {
	Chapter chapters.Chapter
	Number  int    // from 1; chapter 01 also has an exercise 0
	Folder  string // its name, such as 1-resume
	Readme         // without a title in it, the title is the folder's name
}

// Name is the commands' name for the exercise, such as 01/1.
func (e Exercise) Name() string { return fmt.Sprintf("%s/%d", e.Chapter.Number(), e.Number) }

func (e Exercise) Dir() string { return filepath.Join(e.Chapter.Dir, Folder, e.Folder) }

func (e Exercise) File(name string) string { return filepath.Join(e.Dir(), name) }

// Path is File relative to the repository's root, with slashes.
func (e Exercise) Path(name string) string {
	return path.Join(e.Chapter.Name, Folder, e.Folder, name)
}

var folderName = regexp.MustCompile(`^([1-9]?[0-9])-[a-z0-9-]+$`)

func All(root string) ([]Exercise, error) {
	all, err := chapters.All(root)
	if err != nil {
		return nil, err
	}
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

// In returns a chapter's exercises in order.
func In(chapter chapters.Chapter) ([]Exercise, error) {
	entries, err := os.ReadDir(filepath.Join(chapter.Dir, Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the exercises of %s: %w", chapter.Name, err)
	}
	var found []Exercise
	for _, entry := range entries {
		match := folderName.FindStringSubmatch(entry.Name())
		if match == nil || !entry.IsDir() {
			continue
		}
		number, err := strconv.Atoi(match[1])
		if err != nil {
			return nil, err
		}
		e := Exercise{Chapter: chapter, Number: number, Folder: entry.Name()}
		content, _ := os.ReadFile(e.File(ReadmeFile)) // without it, everything is empty
		e.Readme = parseReadme(number, string(content))
		e.Title = cmp.Or(e.Title, e.Folder)
		found = append(found, e)
	}
	slices.SortStableFunc(found, func(a, b Exercise) int { return a.Number - b.Number })
	return found, nil
}
