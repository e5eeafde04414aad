package exercises

// One check: the tests run, the verdict, and what of it is remembered.

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"example.com/operators/scripts/internal/problem"
)

// Checker checks exercises of the repository at Root.
type Checker struct {
	Root string
	// Env says what the tests find in their environment beyond this process's own: where the cluster is, if it is up. It is
	// asked before each check; nil: nothing.
	Env func(context.Context) []string
	// Limit is how long an exercise's tests may take; 0: long enough.
	Limit time.Duration
}

// Check runs an exercise's tests and remembers whether they passed. The error says that they couldn't be run.
func (c Checker) Check(ctx context.Context, e Exercise) (Verdict, error) {
	if _, err := os.Stat(e.File(exerciseFile)); err != nil {
		return Verdict{}, &problem.Problem{
			What: fmt.Sprintf("%s is missing", e.Path(exerciseFile)),
			Mend: fmt.Sprintf("./scripts/workshop reset %s", e.Name()),
		}
	}
	var env []string
	if c.Env != nil {
		env = c.Env(ctx)
	}
	start := time.Now()
	found, err := goTest(ctx, request{
		module:   e.Chapter.Dir,
		packages: []string{"./" + folder + "/" + e.Folder},
		tag:      tagCheck,
		env:      env,
		limit:    cmp.Or(c.Limit, defaultLimit),
	})
	if err != nil {
		return Verdict{}, err
	}
	verdict := explain(e, resultOf(e, found), time.Since(start))
	return verdict, UpdateProgress(ctx, c.Root, e, func(r *Record) {
		r.Passing = verdict.Outcome == Passed
		if r.Passing && r.Passed == nil && !e.HasSolution() {
			now := time.Now().UTC().Truncate(time.Second)
			r.Passed = &now
		}
	})
}
