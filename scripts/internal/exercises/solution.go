package exercises

// Showing the solution: the whole file, or how it differs from the learner's.

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"example.com/operators/scripts/internal/git"
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
// there is nothing to compare, because the learner hasn't changed the file, or because it equals
// the solution. Git shows only changes that aren't committed, so a file that passes counts as
// changed in any case.
func SolutionDiff(ctx context.Context, root string, e Exercise, colours ui.Palette) (string, error) {
	progress, err := ReadProgress(root)
	if err != nil {
		return "", err
	}
	own, err := readIfExists(e.File(ExerciseFile))
	if err != nil || own == nil || !progress.Of(e).Passing && isCommitted(ctx, root, e) {
		return "", err
	}
	solution, err := solutionInPlace(e) // with the same build tag as the learner's
	if err != nil {
		return "", err
	}
	return coloured(diff.Diff(e.Path(ExerciseFile), own, e.Path(SolutionFile), solution), colours), nil
}

// isCommitted reports whether git has exactly this exercise.go in its last commit.
func isCommitted(ctx context.Context, root string, e Exercise) bool {
	_, err := git.Run(ctx, root, "diff", "--quiet", "HEAD", "--", e.Path(ExerciseFile))
	return err == nil
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
