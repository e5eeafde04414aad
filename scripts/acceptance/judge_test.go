package acceptance

// What the judge checks: the promises that every operator should keep, and all promises under
// faults. It knows a chapter's program by scripts/judge/chapters/CHAPTER/judge.yaml.

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/judge"
)

// TestFaults checks which chapter survives which fault, and that it doesn't survive those of which
// package contract says so.
func TestFaults(t *testing.T) {
	forEachCheck(t, func(check judge.Check) bool { return check.IsFault })
}

// TestJudge runs the judge's other checks. One of them measures the cost of a thousand objects, which
// takes a minute.
func TestJudge(t *testing.T) {
	forEachCheck(t, func(check judge.Check) bool { return !check.IsFault })
}

// onlyOne is held by a check that measures time.
var onlyOne sync.Mutex

// forEachCheck runs a test for each of the judge's checks that include accepts, and for each
// chapter's own program.
func forEachCheck(t *testing.T, include func(judge.Check) bool) {
	if kindNode() != "" { // its checks create more Pods than the one node has room for, which is 110
		return
	}
	for _, kind := range []string{chapters.Foo, chapters.TDSet} {
		forChaptersAtOnce(t, kind, judged.isFull, func(t *testing.T, env *environment, j judged) {
			config, err := judge.Read(filepath.Join("..", "judge", "chapters", j.chapter.Name, "judge.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			config.Manifests = nil // they are applied
			config.Limits.Converge = env.timeout
			if j.hasQueue() { // the others don't recover from each fault, which takes all of the limit
				config.Limits.Recover = env.timeout
			}
			command := []string{j.binary(t, env)}
			for _, check := range judge.All() {
				if !include(check) || check.NotFor(config) != "" || j.WhyNotTested(j.chapter, check.Name) != "" {
					continue
				}
				t.Run(j.checkName(check), func(t *testing.T) {
					if check.Alone {
						onlyOne.Lock() // chapters are judged at the same time
						defer onlyOne.Unlock()
					} else {
						t.Parallel()
					}
					results, err := judge.Run(t.Context(), judge.Options{
						Config: config, Command: command, Target: env.config, Checks: []judge.Check{check},
					})
					if err != nil {
						t.Fatal(err)
					}
					j.expects(t, results[0])
				})
			}
		})
	}
}

// binary is the program. In a full run it has the race detector, if it is a chapter's.
func (j judged) binary(t *testing.T, env *environment) string {
	t.Helper()
	if os.Getenv("TEST_RACE") == "" {
		return filepath.Join(env.programs, j.program.Name)
	}
	binary, err := j.program.WithRaceDetector().Build(t.Context(), filepath.Join(env.programs, "race"))
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// checkName begins like the names of the contract's tests, so that --only finds it.
func (j judged) checkName(check judge.Check) string {
	return check.Name + " " + strings.TrimPrefix(check.Promise, "the operator survives ")
}

// expects compares the judge's verdict with what package contract declares.
func (j judged) expects(t *testing.T, result judge.Result) {
	t.Helper()
	name := result.Check.Name
	why := j.WhyNotHeld(j.chapter, name)
	switch {
	case result.Verdict == judge.Passed && why == "":
	case result.Verdict == judge.Passed:
		t.Errorf("the promise is kept, but package contract says: %s", why)
	case result.Verdict == judge.Found && (why != "" || j.IsByChance(j.chapter, name)):
	case result.Verdict == judge.Skipped:
		t.Errorf("%s: declare in package contract that this isn't tested for this chapter, and why", result.Why)
	default:
		t.Errorf("%s %s\n%s", result.Verdict, result.Why, result.Log)
		for _, finding := range result.Findings {
			t.Errorf("%s %+v", finding, finding.Evidence)
		}
	}
}
