package suite

// The tests that run on the suite's clusters.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises/proof"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// tests runs vet, staticcheck, the tours, and all tests of modules and exercises but the contract.
func (s *Suite) tests(ctx context.Context) {
	s.onCluster(ctx, unitCluster, func(c *cluster.Cluster) {
		// Vet gives the garbage collector time to find new kinds, which it looks for every 30s.
		s.step(ctx, "vet and staticcheck", s.lint)
		for _, chapter := range s.Chapters {
			s.step(ctx, chapter.Name+": unit and integration tests", func(ctx context.Context, step *ui.Step) (string, error) {
				return s.testChapter(ctx, step, c, chapter)
			})
		}
		for _, chapter := range s.Chapters {
			s.step(ctx, chapter.Name+": exercises fail as given, and pass as solved", func(ctx context.Context, step *ui.Step) (string, error) {
				return s.prove(ctx, step, c, chapter)
			})
		}
		if s.Everything {
			s.step(ctx, "scripts: unit and integration tests", func(ctx context.Context, step *ui.Step) (string, error) {
				environment := s.testEnvironment(c, s.Chapters...)
				if _, err := s.goTest(ctx, step, chapters.Schedule, environment, append(slices.Clone(s.race), "./...")...); err != nil {
					return "", err
				}
				// -count=1: Go's test cache ignores the chapters, which these tests read.
				args := slices.Concat([]string{"-count=1"}, s.race, []string{"./cmd/...", "./internal/..."})
				return s.goTest(ctx, step, "scripts", environment, args...)
			})
		}
		for _, chapter := range s.Chapters {
			if !givesTour(chapter) {
				s.tour(ctx, chapter, c)
			}
		}
	})
}

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

func (s *Suite) judge(ctx context.Context) {
	s.onCluster(ctx, contractCluster, func(c *cluster.Cluster) {
		s.step(ctx, "the behaviour contract", func(ctx context.Context, step *ui.Step) (string, error) {
			env := append(s.testEnvironment(c, s.Chapters...), "TEST_DISPOSABLE=1")
			if s.race != nil {
				env = append(env, "TEST_RACE=1")
			}
			// Most of it is waiting, so more tests may run at a time than there are processors.
			return s.contract(ctx, step, env, 8)
		})
	})
}

// givesTour reports whether the chapter's text runs the tour, so that readAsReader runs it too.
func givesTour(chapter chapters.Chapter) bool {
	text, err := os.ReadFile(filepath.Join(chapter.Dir, "README.md"))
	return err == nil && strings.Contains(string(text), "\n$ ./scripts/workshop demo "+chapter.Number()+"\n")
}
