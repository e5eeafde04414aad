package watch

import (
	"context"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
)

// isNaming reports whether the current exercise is a ticket whose cause the learner hasn't named
// yet. Until then, the keys 1 to 9 choose an answer.
func (s *session) isNaming() bool {
	return s.cancel == nil && s.verdict.Outcome == verdict.Unnamed && s.verdict.Cause != nil
}

// nameCause answers a ticket's question, and checks the exercise if the answer is right.
func (s *session) nameCause(ctx context.Context, number int) {
	answer, err := exercises.NameCause(ctx, s.Checker.Root, s.current, number)
	switch {
	case err != nil:
		s.printError(err)
	case answer.Right:
		s.clear()
		s.printf("%s\n", exercises.Wrap("Yes. "+answer.Because))
		s.check(ctx)
		return
	default:
		s.printf("\n%s", exercises.Wrap("That isn't the cause. "+answer.Because))
	}
	s.printFooter()
}
