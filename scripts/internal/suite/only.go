package suite

// The tests of some promises or faults alone: for a reader who has changed something, or wants to see a promise fail. Nothing else
// is looked at.

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

// readersPatience is how long a promise may take to be kept: no longer than a reader waits for one that isn't, but longer than the 30
// seconds in which the garbage collector finds out that there is a CRD.
const readersPatience = "45s"

// logFile is where all that the tests printed is kept, relative to the repository's root.
const logFile = ".workshop/logs/only.log"

// Only runs the tests of these promises and faults for each chapter on the contract's cluster, and
// leaves it up. It writes the results to out. The error means that no test could run.
func (s *Suite) Only(ctx context.Context, wanted []contract.Named, out io.Writer, colours ui.Palette) (counts gotest.Counts, err error) {
	if !slices.ContainsFunc(s.Chapters, func(chapter chapters.Chapter) bool { return len(contract.Tested(chapter, wanted)) > 0 }) {
		return counts, problem.New("none of these apply to the chapters' programs").
			ToDo(`"./scripts/workshop test --matrix" lists what does`)
	}
	end, err := s.begin(ctx, clusters+contractCluster)
	if err != nil {
		return counts, err
	}
	defer end(&err)
	defer s.this.Keep(clusters + contractCluster) // for the next time; interrupted tests leave Foos on it
	result, err := cluster.UpShown(ctx, s.UI, s.Cluster(), 0)
	if err != nil {
		return counts, err
	}
	if result.Outcome != cluster.AlreadyUp {
		s.UI.Say("  It stays up, beside yours, for the next time. WORKSHOP_CLUSTER=%s ./scripts/workshop down ends it.", contractCluster)
	}
	shown := &report{out: out, colours: colours}
	var problems []string
	for i, chapter := range s.Chapters {
		if len(s.Chapters) > 1 {
			fmt.Fprintf(out, "%s%s\n", strings.Repeat("\n", min(i, 1)), colours.Bold.Sprint(chapter.Name))
		}
		asked := contract.Tested(chapter, wanted)
		if len(asked) == 0 {
			fmt.Fprintf(out, "– none of these apply to it\n")
			continue
		}
		results, err := s.onlyOf(ctx, chapter, asked)
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

// onlyOf runs the tests for one chapter. The programs that they are about are built first: what the compiler says is no test's to tell.
func (s *Suite) onlyOf(ctx context.Context, chapter chapters.Chapter, wanted []contract.Named) (gotest.Results, error) {
	step := s.UI.Start(chapter.Name)
	defer step.Drop()
	for _, c := range contract.All() {
		if !c.Tests(chapter, wanted...) {
			continue
		}
		p, found, err := program.Of(chapter, c.Kind)
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
	env := s.testEnvironment(s.Cluster(), chapter)
	if !slices.ContainsFunc(wanted, contract.Named.IsFault) {
		env = append(env, "TEST_TIMEOUT="+readersPatience)
	}
	return gotest.Run(ctx, gotest.Request{
		Dir:      filepath.Join(s.Root, "scripts"),
		Env:      env,
		Args:     []string{"-timeout=20m", "-vet=off", "-parallel=8", "-run=" + contract.Pattern(chapter, wanted), "./acceptance"},
		Progress: func(test string) { step.Update("%s", sentence(test)) },
	})
}

// keepLog writes all that the tests printed that failed, if any has, and says to out where that is.
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
