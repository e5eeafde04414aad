package exercises

// Showing the solution: the whole file, or how it differs from the learner's.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Solution returns the solution without its build tag.
func Solution(e Exercise) (string, error) {
	content, err := os.ReadFile(e.File(SolutionFile))
	if err != nil {
		return "", fmt.Errorf("read the solution of %s: %w", e.Name(), err)
	}
	return strings.TrimLeft(strings.TrimPrefix(string(content), "//go:build "+TagSolution), "\r\n"), nil
}

// SolutionDiff returns git's diff from the learner's exercise.go to the solution. It is "" if only
// their build tags differ.
func SolutionDiff(ctx context.Context, e Exercise, coloured bool) (string, error) {
	color := "--color=never"
	if coloured {
		color = "--color=always"
	}
	git := exec.CommandContext(ctx, "git", "diff", "--no-index", "--no-ext-diff", color,
		"--ignore-matching-lines=^//go:build ", ExerciseFile, SolutionFile)
	git.Dir = e.Dir()
	diff, err := git.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // they differ
	}
	return string(diff), err
}
