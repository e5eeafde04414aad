package suite

// A failed test runs again when nothing else does. For most of a run, all processors are busy, so a
// test that waits for a cluster can time out. With a bug, the test fails both times. The run's
// result names the tests that passed only the second time, because such a test may still have a
// problem of its own.

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

// mostAgain is how many failed tests of one go test command, or how many texts, may run again. If
// more of them fail, a busy machine isn't the reason.
const mostAgain = 8

// failedRun is a run of go test in which tests failed. They count as failed until they have passed.
type failedRun struct {
	module string
	env    []string
	flags  []string
	failed []gotest.Failure
}

// noteFailures remembers failed tests for runAgain, if there are only a few.
func (s *Suite) noteFailures(module string, env, args []string, results gotest.Results) {
	failed, onlyTests := results.Failures()
	if !onlyTests || len(failed) > mostAgain {
		return
	}
	flags := slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "-run=") || strings.HasPrefix(arg, "-skip=") || strings.HasPrefix(arg, "-count=")
	})
	s.failedRuns = append(s.failedRuns, failedRun{module, env, flags, failed})
}

// runAgain runs each failed test again, alone.
func (s *Suite) runAgain(ctx context.Context) {
	for _, run := range s.failedRuns {
		for _, failure := range run.failed {
			name := failure.Package + " " + failure.Name
			s.counts.Failed -= failure.Tests
			s.step(ctx, "again, alone: "+name, func(ctx context.Context, _ *ui.Step) (string, error) {
				results, err := gotest.Run(ctx, gotest.Request{
					Dir: filepath.Join(s.Root, run.module), Env: run.env,
					Args: append(slices.Clone(run.flags), "-count=1", "-run="+failure.Pattern(), failure.Package),
				})
				counts := results.Counts()
				if err == nil && (counts.NotPassed() > 0 || counts.Passed == 0) {
					err = errors.New(strings.Join(append(results.Problems(), name+" failed again"), "\n"))
				}
				if err != nil {
					s.counts.Failed += failure.Tests
					return "", err
				}
				s.counts.Passed += failure.Tests
				s.onlyAlone = append(s.onlyAlone, name)
				return "passed", nil
			})
		}
	}
	if len(s.onlyAlone) > 0 {
		s.UI.Say("! passed only when nothing else ran:\n%s", strings.Join(s.onlyAlone, "\n"))
	}
}
