package suite

// What is said of the source without running it.

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/checks"
	"example.com/operators/scripts/internal/ui"
)

func (s *Suite) checkFiles(ctx context.Context, _ *ui.Step) (string, error) {
	problems, err := checks.All(ctx, s.Root)
	if err == nil && len(problems) > 0 {
		err = errors.New(strings.Join(problems, "\n"))
	}
	return "fine", err
}

func (s *Suite) modules() []string {
	if s.Everything {
		return append(chapters.Modules(s.Chapters), chapters.Schedule)
	}
	return chapters.Names(s.Chapters)
}

func (s *Suite) lint(ctx context.Context, step *ui.Step) (string, error) {
	if _, err := s.run(ctx, "scripts", "go", "build", "-o", s.staticcheck(), "honnef.co/go/tools/cmd/staticcheck"); err != nil {
		return "", err
	}
	var all error
	for _, module := range s.modules() {
		step.Update("%s", module)
		packages, err := s.packages(ctx, module, allTags)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		_, vetErr := s.run(ctx, module, append([]string{"go", "vet", allTags}, packages...)...)
		// Generated code isn't ours to fix: it uses functions that it marks as deprecated itself.
		written := slices.DeleteFunc(packages, func(path string) bool { return strings.Contains(path, "/pkg/generated/") })
		_, err = s.run(ctx, module, append([]string{s.staticcheck(), allTags}, written...)...)
		all = errors.Join(all, vetErr, err)
	}
	return "fine", all
}

// allTags bring in the tests that need docker, which OnKind runs, and the one that interrupts runs: they are looked at here, too.
const allTags = "-tags=kind,e2e,leftovers"

func (s *Suite) staticcheck() string { return filepath.Join(s.Root, ".workshop", "bin", "staticcheck") }

// packages are a module's packages without the exercises: those are as the learner has left them. What was committed of
// them is judged by the proof. flags are go list's.
func (s *Suite) packages(ctx context.Context, module string, flags ...string) ([]string, error) {
	output, err := s.run(ctx, module, slices.Concat([]string{"go", "list", "-e"}, flags, []string{"./..."})...)
	packages := strings.Fields(output)
	return slices.DeleteFunc(packages, func(path string) bool { return strings.Contains(path, "/exercises/") }), err
}
