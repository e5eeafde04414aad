package checks

// Exercises that continue an earlier one.

import (
	"context"
	"os"

	"example.com/operators/scripts/internal/exercises"
)

// carries: a file that learners can replace with their own work has the same functions as the
// earlier exercise's solution. So the program does the same, whether learners carry their work over
// or not.
func carries(ctx context.Context, r *repository) error {
	all, err := exercises.All(r.root)
	if err != nil {
		return err
	}
	earlier := map[string]exercises.Exercise{}
	for _, e := range all {
		list, err := e.Carries()
		if err != nil {
			r.report("%v", err)
		}
		for _, c := range list {
			if from, found := earlier[c.From]; found {
				r.carried(ctx, e, from, c)
			} else {
				r.report("%s: there is no exercise %s before this one", e.Path(exercises.CarryFile), c.From)
			}
		}
		earlier[e.Name()] = e
	}
	return nil
}

func (r *repository) carried(ctx context.Context, e, from exercises.Exercise, c exercises.Carry) {
	want, err := c.Into(e, from, exercises.SolutionFile)
	if err != nil {
		r.report("%s: %v", e.Path(exercises.CarryFile), err)
		return
	}
	if c.IsOwn(ctx, r.root, e) {
		return
	}
	got, err := os.ReadFile(e.File(c.To))
	if err != nil || string(got) != want {
		r.report("%s: it isn't what the solution of %s has, which is:\n%s", e.Path(c.To), c.From, want)
	}
}
