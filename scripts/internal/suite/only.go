package suite

// Tests of single promises or faults, for readers who changed something or want to see a promise
// fail.

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
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// onlyTimeout is how long a promise may take to be kept. It is short, because a reader waits for
// it, but longer than the 30 seconds after which the garbage collector knows a new CRD.
const onlyTimeout = "45s"

// logFile gets the output of failed tests. It is relative to the repository's root.
const logFile = ".workshop/logs/only.log"

// Only runs the tests of these promises and faults for each chapter on the tests' cluster, and
// leaves it up. It writes the results to out. An error means that no test could run.
func (s *Suite) Only(ctx context.Context, selected []contract.Named, out io.Writer, colours ui.Palette) (counts gotest.Counts, err error) {
	if !slices.ContainsFunc(s.Chapters, func(chapter chapters.Chapter) bool { return len(contract.Tested(chapter, selected)) > 0 }) {
		return counts, problem.New("none of these apply to the chapters' programs").
			ToDo(`"./scripts/workshop test --matrix" lists what does`)
	}
	end, err := s.begin(ctx, clusters+testCluster)
	if err != nil {
		return counts, err
	}
	defer end(&err)
	defer s.this.Keep(clusters + testCluster) // unless interrupted, as tests would leave Foos on it
	result, err := cluster.UpShown(ctx, s.UI, s.Cluster(), 0)
	if err != nil {
		return counts, err
	}
	if result.Outcome != cluster.AlreadyUp {
		s.UI.Say("  It stays up, beside yours, for the next time. WORKSHOP_CLUSTER=%s ./scripts/workshop down ends it.", testCluster)
	}
	shown := &report{out: out, colours: colours}
	var problems []string
	for i, chapter := range s.Chapters {
		if len(s.Chapters) > 1 {
			fmt.Fprintf(out, "%s%s\n", strings.Repeat("\n", min(i, 1)), colours.Bold.Sprint(chapter.Name))
		}
		tested := contract.Tested(chapter, selected)
		if len(tested) == 0 {
			fmt.Fprintf(out, "– none of these apply to it\n")
			continue
		}
		results, err := s.onlyOf(ctx, chapter, tested)
		if err != nil {
			return shown.counts, errors.Join(err, s.keepLog(out, problems))
		}
		before := shown.counts
		shown.add(results)
		if shown.counts == before {
			return shown.counts, errors.Join(fmt.Errorf("%s: no test was run", chapter.Name), s.keepLog(out, problems))
		}
		problems = append(problems, results.Problems()...)
	}
	return shown.counts, s.keepLog(out, problems)
}

// onlyOf runs the tests for one chapter. It builds the tested programs first, to show compiler
// errors as such.
func (s *Suite) onlyOf(ctx context.Context, chapter chapters.Chapter, selected []contract.Named) (gotest.Results, error) {
	step := s.UI.Start(chapter.Name)
	defer step.Drop()
	for _, c := range contract.All() {
		if !c.Tests(chapter, selected...) {
			continue
		}
		p, found, err := program.Of(chapter, c.Kind)
		if err == nil && s.Exercise != "" {
			found = c.Kind == chapter.Kind()
			p, err = p.InExercise(s.Exercise)
		}
		if err != nil {
			return nil, err
		}
		if found {
			step.Update("building %s", p.Name)
			if _, err := p.Build(ctx, filepath.Join(s.Root, ".workshop", "bin")); err != nil {
				return nil, err
			}
		}
	}
	step.Update("building its tests")
	env := append(s.testEnvironment(s.Cluster(), chapter), "TEST_EXERCISE="+s.Exercise)
	if !slices.ContainsFunc(selected, contract.Named.IsFault) {
		env = append(env, "TEST_TIMEOUT="+onlyTimeout)
	}
	return gotest.Run(ctx, gotest.Request{
		Dir:      filepath.Join(s.Root, "scripts"),
		Env:      env,
		Args:     []string{"-timeout=20m", "-vet=off", "-parallel=8", "-run=" + contract.Pattern(chapter, selected), "./acceptance"},
		Progress: func(test string) { step.Update("%s", sentence(test)) },
	})
}

// keepLog writes the output of failed tests, if any, to the log, and the log's name to out.
func (s *Suite) keepLog(out io.Writer, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	fmt.Fprintf(out, "The program's log, and the objects in its namespace: %s\n", logFile)
	path := filepath.Join(s.Root, filepath.FromSlash(logFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Join(problems, "\n")), 0o600)
}
