package exercises

// What git and the solution know of an exercise: what the learner was given, the solution, and how it
// differs from the learner's.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Committed returns exercise.go as in the last commit, which is what the learner was given.
func (e Exercise) Committed(ctx context.Context) ([]byte, error) {
	return git(ctx, e.Dir(), "cat-file", "blob", "HEAD:./"+ExerciseFile)
}

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
	diff, err := git(ctx, e.Dir(), "diff", "--no-index", "--no-ext-diff", color,
		"--ignore-matching-lines=^//go:build ", ExerciseFile, SolutionFile)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // they differ
	}
	return string(diff), err
}

// git runs git in dir, a repository or a folder in one, and returns its output. If git fails, the
// error quotes its message.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	// In a hook, these variables point git to the hook's repository.
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_")
	})
	output, err := command.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s (git: %w)", bytes.TrimSpace(exit.Stderr), err)
	}
	return output, err
}
