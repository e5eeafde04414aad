package chapterdiff

// Code that moves. What a learner writes in one TDSet exercise is given in the next one, in a file
// of its own. The diff compares the code with that file, instead of showing it as deleted and as
// new.

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/carry"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
)

// splitMoved moves the code that b has in other files out of a's solution, into files of the same
// names.
func splitMoved(a, b chapters.Chapter, filesA, filesB []file) ([]file, error) {
	if !a.Solved || !b.Solved {
		return filesA, nil
	}
	from, errA := exerciseOf(a)
	to, errB := exerciseOf(b)
	all, err := to.Carries()
	if err := errors.Join(errA, errB, err); err != nil {
		return nil, err
	}
	for _, c := range all {
		i := indexOf(filesA, exercises.SolutionFile)
		j := indexOf(filesB, c.To)
		if c.From != from.Name() || i < 0 || j < 0 || indexOf(filesA, c.To) >= 0 {
			continue
		}
		solution := filesA[i].text
		take, rest, err := c.Split(to, from.Path(exercises.SolutionFile), solution)
		if err != nil {
			return nil, err
		}
		filesA[i] = newFile(exercises.SolutionFile, carry.Head(solution)+rest)
		if !strings.Contains(strings.TrimSpace(rest), "\n") { // all of it has moved
			filesA = slices.Delete(filesA, i, i+1)
		}
		filesA = append(filesA, newFile(c.To, carry.Head(filesB[j].text)+take))
	}
	return filesA, nil
}

// exerciseOf returns the exercise that a solved chapter solves.
func exerciseOf(solved chapters.Chapter) (exercises.Exercise, error) {
	all, err := exercises.In(chapters.Chapter{Name: solved.Name, Dir: filepath.Dir(filepath.Dir(solved.Dir))})
	if err != nil {
		return exercises.Exercise{}, err
	}
	i := slices.IndexFunc(all, func(e exercises.Exercise) bool { return e.Dir() == solved.Dir })
	if i < 0 {
		return exercises.Exercise{}, fmt.Errorf("%s isn't an exercise's folder", solved.Dir)
	}
	return all[i], nil
}

func indexOf(files []file, name string) int {
	return slices.IndexFunc(files, func(f file) bool { return f.path == name })
}
