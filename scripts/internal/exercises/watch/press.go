package watch

// What the keys do.

import (
	"context"

	"example.com/operators/scripts/internal/exercises"
)

// isTyping reports whether keys are part of a text or an answer, so that q doesn't quit.
func (s *session) isTyping() bool {
	return s.guess != nil || s.list != nil && (s.list.filtering || s.list.resetting)
}

// press handles a key. It ignores keys that mean nothing here.
func (s *session) press(ctx context.Context, key string) error {
	switch {
	case s.list != nil:
		return s.list.press(ctx, s, key)
	case s.guess != nil:
		s.typeGuess(ctx, key)
		return nil
	case s.isNaming() && key >= "1" && key <= "9":
		s.nameCause(ctx, int(key[0]-'0'))
		return nil
	}
	switch key {
	case "c":
		if err := s.saves.follow(s.current); err != nil {
			return err
		}
		s.recheck(ctx)
	case "e":
		s.edit(ctx)
	case "h":
		hint, err := exercises.NextHint(ctx, s.Checker.Root, s.current, false, s.Terminal.Colours)
		if err != nil {
			s.printError(err)
			return nil
		}
		s.printf("\n%s", hint)
		s.printFooter()
	case "p":
		s.beginGuess()
	case "l", "n":
		return s.goElsewhere(ctx, key)
	}
	return nil
}

// goElsewhere opens the list, or the next exercise.
func (s *session) goElsewhere(ctx context.Context, key string) error {
	progress, err := exercises.ReadProgress(s.Checker.Root)
	next, found := exercises.NextOpen(s.Exercises, s.current, progress)
	switch {
	case err != nil:
		s.printError(err)
		return nil
	case key == "l" && s.Terminal.Clear:
		s.list = newList(s.Exercises, s.current)
		s.redraw()
		return nil
	case key == "l":
		s.printf("\n%s", exercises.Table(s.Exercises, progress, s.Terminal.Colours))
	case !found:
		s.printf("\nNo other exercise is left to do.")
	default:
		return s.open(ctx, next)
	}
	s.printFooter()
	return nil
}
