package exercises

// Running the tests of exercises.

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/gotest"
)

// defaultLimit is how long an exercise's tests may take together: they are written to need a second.
const defaultLimit = 20 * time.Second

// request is one run of go test on exercises of one chapter.
type request struct {
	module   string   // folder of the module
	packages []string // such as ./exercises/1-resume
	tag      string
	args     []string
	env      []string // beyond this process's
	limit    time.Duration
	progress func(test string) // called with each test's name as it starts; may be nil
}

// goTest runs go test as a reader would who has copied the chapter away.
func goTest(ctx context.Context, r request) (gotest.Results, error) {
	return gotest.Run(ctx, gotest.Request{
		Dir:      r.module,
		Env:      slices.Concat(r.env, []string{"GOWORK=off"}),
		Args:     slices.Concat([]string{"-count=1", "-tags=" + r.tag, "-timeout=" + r.limit.String()}, r.args, r.packages),
		Progress: r.progress,
	})
}

// resultOf is what became of an exercise's package.
func resultOf(e Exercise, results gotest.Results) *gotest.Package {
	i := slices.IndexFunc(results, func(p *gotest.Package) bool { return strings.HasSuffix(p.Path, "/"+folder+"/"+e.Folder) })
	if i < 0 {
		return &gotest.Package{}
	}
	return results[i]
}
