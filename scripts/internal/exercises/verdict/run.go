// Package verdict runs the tests of exercises (run.go), and explains the result to the learner.
// verdict.go turns the output of go test into sentences, with crash.go (how a run crashed) and
// source.go (what each test checks, and where the learner works). print.go prints the result.
package verdict

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// DefaultLimit is the time for all tests of an exercise, which are written to take a second.
const DefaultLimit = 20 * time.Second

type Run struct {
	Tag      string
	Args     []string // more arguments to go test
	Env      []string // beyond this process's
	Limit    time.Duration
	Progress func(test string) // called with each test's name as it starts; may be nil
}

// Test runs one go test on exercises of one chapter, without go.work, as in a copy of the chapter.
// An error means that the tests couldn't run.
func (r Run) Test(ctx context.Context, list ...exercises.Exercise) ([]Verdict, error) {
	args := append([]string{"-tags=" + r.Tag, "-timeout=" + r.Limit.String()}, r.Args...)
	for _, e := range list {
		args = append(args, "./"+exercises.Folder+"/"+e.Folder)
	}
	results, err := gotest.Run(ctx, gotest.Request{
		Dir:      list[0].Chapter.Dir,
		Env:      append(slices.Clone(r.Env), "GOWORK=off"),
		Args:     args,
		Progress: r.Progress,
	})
	if err != nil {
		return nil, err
	}
	var verdicts []Verdict
	for _, e := range list {
		result := &gotest.Package{}
		if i := slices.IndexFunc(results, func(p *gotest.Package) bool {
			return strings.HasSuffix(p.Path, "/"+exercises.Folder+"/"+e.Folder)
		}); i >= 0 {
			result = results[i]
		}
		verdicts = append(verdicts, explain(e, result))
	}
	return verdicts, nil
}

// Checker checks exercises of the repository at Root.
type Checker struct {
	Root  string
	Env   func(context.Context) []string // called before each check for more variables; may be nil
	Limit time.Duration                  // for an exercise's tests; 0: DefaultLimit
	// Compiling is called every few seconds with the number of packages that go still has to compile
	// before the tests can run: hundreds at the first check of a chapter. It may be nil.
	Compiling func(packages int)
}

// slowCheck is how long a check takes before it says why.
const slowCheck = 3 * time.Second

// Check runs an exercise's tests and records whether they passed. An error means they couldn't run.
func (c Checker) Check(ctx context.Context, e exercises.Exercise) (Verdict, error) {
	if _, err := os.Stat(e.File(exercises.ExerciseFile)); err != nil {
		return Verdict{}, problem.New("%s is missing", e.Path(exercises.ExerciseFile)).
			ToDo("./scripts/workshop reset %s", e.Name())
	}
	cause, err := exercises.OpenCause(c.Root, e)
	if err != nil || cause != nil {
		return Verdict{Exercise: e, Outcome: Unnamed, Cause: cause}, err
	}
	run := Run{Tag: exercises.TagCheck, Args: []string{"-count=1"}, Limit: cmp.Or(c.Limit, DefaultLimit)}
	if c.Env != nil {
		run.Env = c.Env(ctx)
	}
	start := time.Now()
	compiling, stop := context.WithCancel(ctx)
	defer stop()
	if c.Compiling != nil {
		go c.reportCompiling(compiling, e)
	}
	verdicts, err := run.Test(ctx, e)
	if err != nil {
		return Verdict{}, err
	}
	verdict := verdicts[0]
	verdict.Took = time.Since(start)
	return verdict, exercises.RecordCheck(c.Root, e, verdict.Outcome == Passed)
}

// reportCompiling reports how many packages are left to compile, until there are none.
func (c Checker) reportCompiling(ctx context.Context, e exercises.Exercise) {
	own := exercises.Folder + "/" + e.Folder
	build := gobuild.Build{Dir: e.Chapter.Dir, Args: []string{"-test", "-tags=" + exercises.TagCheck, "./" + own}}
	for left := 1; left > 0; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(slowCheck):
		}
		stale, err := build.Stale(ctx)
		if err != nil {
			return // go test fails as well, and says why
		}
		// The exercise's own package is compiled each time.
		left = len(slices.DeleteFunc(stale, func(path string) bool { return strings.Contains(path, own) }))
		c.Compiling(left)
	}
}

// Left says how far a slow check is.
func Left(packages int) string {
	if packages == 0 {
		return "running the tests"
	}
	return ui.Plural(packages, "package") + " left to compile"
}
