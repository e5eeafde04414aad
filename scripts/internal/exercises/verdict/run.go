// Package verdict runs the tests of exercises, and explains the result to the learner: check.go is one check, and run.go the
// `go test` beneath it. verdict.go makes sentences of what it printed, with crash.go (how a run broke off) and source.go
// (which test says what, and where the learner works). print.go is the page that the learner sees.
package verdict

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/gotest"
)

// DefaultLimit is how long an exercise's tests may take together: they are written to need a second.
const DefaultLimit = 20 * time.Second

// Run is how to run the tests of exercises.
type Run struct {
	Tag      string
	Args     []string // more arguments to go test
	Env      []string // beyond this process's
	Limit    time.Duration
	Progress func(test string) // called with each test's name as it starts; may be nil
}

// Test tests exercises of one chapter, in one run of go test, as in a chapter that was copied out of the repository. It returns
// a verdict on each. The error says that the tests couldn't be run.
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
