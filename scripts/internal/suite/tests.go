package suite

// The tests that run on the suite's clusters.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/demo"
	"example.com/operators/scripts/internal/exercises/proof"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// tests runs vet, staticcheck, the tours, and all tests of modules and exercises but the contract.
func (s *Suite) tests(ctx context.Context) {
	s.onCluster(ctx, unitCluster, func(c *cluster.Cluster) bool {
		// Vet gives the garbage collector time to find new kinds, which it looks for every 30s.
		green := s.step(ctx, "vet and staticcheck", s.lint)
		for _, chapter := range s.Chapters {
			green = s.step(ctx, chapter.Name+": unit and integration tests", func(ctx context.Context, step *ui.Step) (string, error) {
				return s.testChapter(ctx, step, c, chapter)
			}) && green
		}
		for _, chapter := range s.Chapters {
			green = s.step(ctx, chapter.Name+": exercises fail as given, and pass as solved", func(ctx context.Context, step *ui.Step) (string, error) {
				return s.prove(ctx, step, c, chapter)
			}) && green
		}
		if s.Everything {
			green = s.step(ctx, "scripts: unit and integration tests", func(ctx context.Context, step *ui.Step) (string, error) {
				environment := s.testEnvironment(c, s.Chapters...)
				if _, err := s.goTest(ctx, step, chapters.Schedule, environment, append(slices.Clone(s.race), "./...")...); err != nil {
					return "", err
				}
				// -count=1: Go's test cache ignores the chapters, which these tests read.
				args := slices.Concat([]string{"-count=1"}, s.race, []string{"./cmd/...", "./internal/..."})
				return s.goTest(ctx, step, "scripts", environment, args...)
			}) && green
		}
		for _, chapter := range s.Chapters {
			if givesTour(chapter) {
				continue
			}
			green = s.step(ctx, chapter.Name+": the guided tour", func(ctx context.Context, _ *ui.Step) (string, error) {
				tour := demo.Demo{Root: s.Root, Bin: s.Bin, Chapter: chapter, Cluster: c, Out: io.Discard}
				return "every step held", tour.Run(ctx)
			}) && green
		}
		return green
	})
}

// testChapter runs the tests of a chapter's module.
func (s *Suite) testChapter(ctx context.Context, step *ui.Step, c *cluster.Cluster, chapter chapters.Chapter) (string, error) {
	p, err := program.OfChapter(chapter)
	if err != nil {
		return "", err
	}
	if err := p.Apply(ctx, s.kubectl(c)); err != nil {
		return "", err
	}
	packages, err := s.packages(ctx, chapter.Name)
	if err != nil {
		return "", err
	}
	return s.goTest(ctx, step, chapter.Name, s.testEnvironment(c, chapter), slices.Concat(s.race, packages)...)
}

// prove shows that the chapter's exercises fail as given, and pass as solved.
func (s *Suite) prove(ctx context.Context, step *ui.Step, c *cluster.Cluster, chapter chapters.Chapter) (string, error) {
	proof, err := proof.Prove(ctx, proof.Options{
		Root: s.Root, Chapter: chapter, Args: s.race, Env: s.testEnvironment(c, chapter), Staticcheck: s.staticcheck(),
		Progress: func(test string) { step.Update("%s", test) },
	})
	for _, note := range proof.Notes {
		step.Note("! %s", note)
	}
	s.counts = s.counts.Plus(proof.Counts)
	if err == nil && len(proof.Problems) > 0 {
		err = errors.New(strings.Join(proof.Problems, "\n"))
	}
	return fmt.Sprintf("%d exercises", proof.Exercises), err
}

// judge runs the behaviour contract against the chapters' programs.
func (s *Suite) judge(ctx context.Context) {
	s.onCluster(ctx, contractCluster, func(c *cluster.Cluster) bool {
		return s.step(ctx, "the behaviour contract", func(ctx context.Context, step *ui.Step) (string, error) {
			env := append(s.testEnvironment(c, s.Chapters...), "TEST_DISPOSABLE=1")
			if s.race != nil {
				env = append(env, "TEST_RACE=1")
			}
			// Most of it is waiting, so more tests may run at a time than there are processors.
			return s.goTest(ctx, step, "scripts", env, "-parallel=8", "-timeout=60m", "./acceptance")
		})
	})
}

// givesTour reports whether the chapter's text runs the tour, so that readAsReader runs it too.
func givesTour(chapter chapters.Chapter) bool {
	text, err := os.ReadFile(filepath.Join(chapter.Dir, "README.md"))
	return err == nil && strings.Contains(string(text), "\n$ ./scripts/workshop demo "+chapter.Number()+"\n")
}
