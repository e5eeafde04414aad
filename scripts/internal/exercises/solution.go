package exercises

// Showing the solution: the whole file, or how it differs from the learner's.

import (
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"example.com/operators/scripts/internal/ui"
)

// Solution returns the solution without its build tag.
func Solution(e Exercise) (string, error) {
	content, err := os.ReadFile(e.File(SolutionFile))
	if err != nil {
		return "", fmt.Errorf("read the solution of %s: %w", e.Name(), err)
	}
	return strings.TrimLeft(strings.TrimPrefix(string(content), "//go:build "+TagSolution), "\r\n"), nil
}

// SolutionDiff returns a unified diff from the learner's exercise.go to the solution. It is "" if
// they are equal.
func SolutionDiff(e Exercise, colours ui.Palette) (string, error) {
	solution, own, err := e.readBoth()
	if err != nil {
		return "", err
	}
	return coloured(diff.Diff(e.Path(ExerciseFile), own, e.Path(SolutionFile), solution), colours), nil
}

// coloured colours a diff as git does. It leaves out the library's first line, which only repeats
// the files' names.
func coloured(diff []byte, colours ui.Palette) string {
	var page strings.Builder
	for line := range strings.Lines(string(diff)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "diff "):
			continue
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			line = colours.Bold.Sprint(line)
		case strings.HasPrefix(line, "-"):
			line = colours.Red.Sprint(line)
		case strings.HasPrefix(line, "+"):
			line = colours.Green.Sprint(line)
		case strings.HasPrefix(line, "@@"):
			line = colours.Cyan.Sprint(line)
		}
		page.WriteString(line + "\n")
	}
	return page.String()
}
