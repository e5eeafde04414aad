package suite

// What runs on the suite's clusters: vet, staticcheck, and all tests.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/checks"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises/proof"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// tests runs vet, staticcheck, the tours, and all tests of modules and exercises except the
// contract.
func (s *Suite) tests(ctx context.Context) {
	s.onCluster(ctx, unitCluster, func(c *cluster.Cluster) {
		// Vet runs here because the garbage collector needs up to 30 seconds to find new kinds.
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
				return s.testScripts(ctx, step, c)
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

func (s *Suite) testScripts(ctx context.Context, step *ui.Step, c *cluster.Cluster) (summary string, err error) {
	before := s.counts.Passed
	units := []string{"scripts", "./internal/..."}
	if !slices.ContainsFunc(browsers, isProgram) && os.Getenv("CI") == "" { // in CI, they fail
		units = append(units, "-skip=^TestPage")
		step.Note("! the tests of web pages are left out: there is neither Chromium nor Chrome on this machine")
	}
	// The race detector is for code that readers copy. The tools' libraries would take minutes to
	// compile with it, and the judge and lens would be too slow for what they watch.
	for _, tests := range [][]string{
		{chapters.Schedule, "./..."},
		// The commands read the chapters, whose changes Go's test cache doesn't notice.
		{"scripts", "-count=1", "./cmd/..."},
		units,
	} {
		_, failed := s.goTest(ctx, step, tests[0], s.testEnvironment(c, s.Chapters...), tests[1:]...)
		err = errors.Join(err, failed)
	}
	return fmt.Sprintf("%d passed", s.counts.Passed-before), err
}

// browsers are programs that the tests of web pages look for. If there is none, they are skipped,
// which would count as a failure.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"}

func isProgram(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// prove checks that the chapter's exercises fail as given, pass as solved, and reject wrong answers:
// all of them if chapters are named, and otherwise the first one of each exercise.
func (s *Suite) prove(ctx context.Context, step *ui.Step, c *cluster.Cluster, chapter chapters.Chapter) (string, error) {
	mistakes := 0
	if s.Everything {
		mistakes = 1 // each one needs a test binary of its own
	}
	proof, err := proof.Prove(ctx, proof.Options{
		Root: s.Root, Chapter: chapter, Env: s.testEnvironment(c, chapter), Staticcheck: s.staticcheck(), Mistakes: mistakes,
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
			// These tests mostly wait, so more may run at a time than there are processors.
			return s.contract(ctx, step, env, 8)
		})
	})
}

// givesTour reports whether the chapter's text runs the tour, so that readAsReader does too.
func givesTour(chapter chapters.Chapter) bool {
	text, err := os.ReadFile(filepath.Join(chapter.Dir, "README.md"))
	return err == nil && strings.Contains(string(text), "\n$ ./scripts/workshop demo "+chapter.Number()+"\n")
}

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
		// Generated code uses functions that it marks as deprecated itself.
		written := slices.DeleteFunc(packages, func(path string) bool { return strings.Contains(path, "/pkg/generated/") })
		_, err = s.run(ctx, module, append([]string{s.staticcheck(), allTags}, written...)...)
		all = errors.Join(all, vetErr, err)
	}
	return "fine", all
}

// allTags select the tests that need docker, which OnKind runs, and the one that interrupts runs.
const allTags = "-tags=kind,e2e,leftovers"

func (s *Suite) staticcheck() string { return filepath.Join(s.Root, ".workshop", "bin", "staticcheck") }

// packages are a module's packages without the exercises, which learners edit. proof tests the
// committed ones.
func (s *Suite) packages(ctx context.Context, module string, flags ...string) ([]string, error) {
	output, err := s.run(ctx, module, slices.Concat([]string{"go", "list", "-e"}, flags, []string{"./..."})...)
	packages := strings.Fields(output)
	return slices.DeleteFunc(packages, func(path string) bool { return strings.Contains(path, "/exercises/") }), err
}
