package suite

// Tests of single promises, faults or checks, for readers who changed something or want to see a
// promise fail.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// onlyTimeout is how long a promise may take to be kept. It is short, because a reader waits for
// it, but longer than the 30 seconds after which the garbage collector knows a new CRD.
const onlyTimeout = "45s"

// logFile gets the output of failed tests. It is relative to the repository's root.
const logFile = ".workshop/logs/only.log"

// Only runs the tests of these promises, faults and checks for each chapter on the tests' cluster,
// and leaves it up. It writes the results to out, and returns whether all held. An error means that a
// test couldn't run.
func (s *Suite) Only(ctx context.Context, selected []contract.Named, out io.Writer) (held bool, err error) {
	tested := slices.DeleteFunc(slices.Clone(s.Chapters), func(chapter chapters.Chapter) bool {
		return len(contract.Tested(chapter, selected)) == 0
	})
	if len(tested) == 0 {
		return false, problem.New("none of these apply to the chapters' programs").
			ToDo("scripts/acceptance/MATRIX.md lists what does")
	}
	err = s.during(ctx, func() error {
		outcome, err := cluster.UpShown(ctx, s.UI, s.Cluster())
		if err != nil {
			return err
		}
		if outcome != cluster.AlreadyUp {
			s.UI.Say("  It stays up, beside yours, for the next time. WORKSHOP_CLUSTER=%s ./scripts/workshop down ends it.",
				testCluster)
		}
		held, err = s.runOnly(ctx, tested, selected, out)
		if ctx.Err() != nil { // the tests may have left Foos on it
			s.removeCluster(ctx, s.Cluster())
		}
		return err
	})
	return held, err
}

// runOnly runs the tests chapter by chapter, and writes which promises held. A log gets what failed
// tests have printed.
func (s *Suite) runOnly(
	ctx context.Context, tested []chapters.Chapter, selected []contract.Named, out io.Writer,
) (held bool, err error) {
	shown := &report{out: out, colours: ui.NewPalette(ui.Coloured(os.Stdout))}
	var problems []string
	for _, chapter := range tested {
		if len(s.Chapters) > 1 {
			fmt.Fprintln(out, shown.colours.Bold.Sprint(chapter.Name))
		}
		results, err := s.onlyOf(ctx, chapter, contract.Tested(chapter, selected))
		if err != nil {
			return false, err
		}
		shown.add(results)
		problems = append(problems, results.Problems()...)
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", shown.held, shown.failed)
	switch {
	case shown.held+shown.failed == 0:
		return false, errors.New("no test was run")
	case len(problems) == 0:
		return true, nil
	}
	fmt.Fprintf(out, "The program's log, and the objects in its namespace: %s\n", logFile)
	file := filepath.Join(s.Root, filepath.FromSlash(logFile))
	log := []byte(strings.Join(problems, "\n"))
	return false, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, log, 0o600))
}

// onlyOf runs the tests for one chapter.
func (s *Suite) onlyOf(
	ctx context.Context, chapter chapters.Chapter, selected []contract.Named,
) (gotest.Results, error) {
	step := s.UI.Start(chapter.Name)
	defer step.Drop()
	step.Update("building its tests")
	env := s.testEnvironment(s.Cluster(), chapter)
	if !slices.ContainsFunc(selected, contract.Named.IsFault) {
		env = append(env, "TEST_TIMEOUT="+onlyTimeout)
	}
	return gotest.Run(ctx, gotest.Request{
		Dir: filepath.Join(s.Root, "scripts"),
		Env: env,
		Args: []string{
			"-timeout=20m", "-vet=off", "-parallel=8", "-run=" + contract.Pattern(chapter, selected), "./acceptance",
		},
		Progress: func(test string) { step.Update("%s", strings.ReplaceAll(path.Base(test), "_", " ")) },
	})
}
