// Package suite is what `workshop test` and CI run: checks, vet and staticcheck, all modules'
// tests, the judge, the behavior contract, the exercises, and the texts.
//
// Without chapters, it proves all promises while nothing goes wrong, and each chapter's one fault.
// With chapters, or with --full, it proves everything about them. Its steps run one after the
// other, so a test that waits doesn't compete with another step for the processors.
package suite

import (
	"context"
	"fmt"
	"io"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/demo"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

type Suite struct {
	Root string // of the repository
	UI   *ui.UI
	Out  io.Writer // gets the numbers of tests and failures
	// Chapters are the chapters to test, and with Everything also what belongs to no chapter.
	Chapters   []chapters.Chapter
	Everything bool
	// Exercises, if there are any, are all that is tested of their chapters.
	Exercises []exercises.Exercise
	// Full also runs what takes long: faults, exercises, the commands in the texts, and the race
	// detector.
	Full bool

	unique string   // a path to .workshop that no other run uses
	passed int      // tests
	failed []string // steps
}

// The tests' clusters.
const (
	testCluster    = "test"
	readersCluster = "docs" // in the repository's copy for the texts' commands
)

// Cluster is the tests' cluster. Run creates it again, and Only uses it if it exists.
func (s *Suite) Cluster() *cluster.Cluster { return cluster.New(s.Root, testCluster) }

// Run runs all steps, even after a failure. It prints why a step failed, and returns an error that
// names these steps.
func (s *Suite) Run(ctx context.Context) error {
	return s.run(ctx, func() {
		// These tests only read files, even those of other chapters.
		s.testStep(ctx, "layout, budgets, versions, and the texts", "scripts", withoutWorkspace,
			"-count=1", "./internal/checks")
		s.onCluster(ctx, s.Cluster(), func() { s.tests(ctx) })
		if s.Full {
			s.readAsReader(ctx)
		}
	})
}

// Prove proves only the Exercises, which takes a minute or two.
func (s *Suite) Prove(ctx context.Context) error {
	return s.run(ctx, func() {
		s.onCluster(ctx, s.Cluster(), func() {
			s.applyCRDs(ctx, s.kubectl(s.Cluster()))
			for _, chapter := range s.Chapters {
				s.step(ctx, chapter.Name+": vet", func(*ui.Step) (string, error) {
					return "fine", s.lintExercises(ctx, chapter, "")
				})
				s.proveChapter(ctx, chapter)
			}
		})
	})
}

// run runs steps, and prints the line that CI systems read.
func (s *Suite) run(ctx context.Context, steps func()) error {
	return s.during(ctx, func() error {
		steps()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(s.Out, "%d passed, %d failed\n", s.passed, len(s.failed))
		if len(s.failed) > 0 {
			return fmt.Errorf("not everything is green. The reasons are above, for: %s", strings.Join(s.failed, "; "))
		}
		return nil
	})
}

// step runs one part and shows its result. A part returns a short description of what it did.
func (s *Suite) step(ctx context.Context, what string, part func(*ui.Step) (string, error)) bool {
	if ctx.Err() != nil {
		return false
	}
	err := s.UI.While(what, func(step *ui.Step) (string, error) {
		summary, err := part(step)
		return what + ": " + summary, err
	})
	if err != nil && ctx.Err() == nil { // an interrupt isn't a failure
		s.failed = append(s.failed, what)
		s.UI.Say("%s", problem.Format(err))
	}
	return err == nil
}

// tour gives the guided tour of the chapter's program.
func (s *Suite) tour(ctx context.Context, chapter chapters.Chapter, c cluster.Backend) {
	s.step(ctx, chapter.Name+": the guided tour", func(*ui.Step) (string, error) {
		build := func(ctx context.Context, p program.Program) (string, error) { return p.Build(ctx, binOf(s.Root)) }
		tour := demo.Demo{Root: s.Root, Chapter: chapter, Cluster: c, Build: build, Out: io.Discard}
		return "every step held", tour.Run(ctx)
	})
}
