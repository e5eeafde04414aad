package verdict

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

// Checker checks exercises of the repository at Root.
type Checker struct {
	Root string
	// Env is what the tests find in their environment beyond this process's own: where the cluster is, if it is up. It is
	// called before each check; nil: nothing.
	Env func(context.Context) []string
	// Limit is how long an exercise's tests may take; 0: DefaultLimit.
	Limit time.Duration
}

// Check runs an exercise's tests and remembers whether they passed. The error says that they couldn't be run.
func (c Checker) Check(ctx context.Context, e exercises.Exercise) (Verdict, error) {
	if _, err := os.Stat(e.File(exercises.ExerciseFile)); err != nil {
		return Verdict{}, &problem.Problem{
			What: fmt.Sprintf("%s is missing", e.Path(exercises.ExerciseFile)),
			Mend: fmt.Sprintf("./scripts/workshop reset %s", e.Name()),
		}
	}
	run := Run{Tag: exercises.TagCheck, Args: []string{"-count=1"}, Limit: cmp.Or(c.Limit, DefaultLimit)}
	if c.Env != nil {
		run.Env = c.Env(ctx)
	}
	start := time.Now()
	verdicts, err := run.Test(ctx, e)
	if err != nil {
		return Verdict{}, err
	}
	verdict := verdicts[0]
	verdict.Took = time.Since(start)
	return verdict, exercises.RecordCheck(ctx, c.Root, e, verdict.Outcome == Passed)
}
