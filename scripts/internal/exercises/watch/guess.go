package watch

// The learner's guess at the answer to the exercise's question.

import (
	"context"
	"fmt"

	"example.com/operators/scripts/internal/exercises"
)

// beginGuess prints the question, and lets the user type.
func (s *session) beginGuess() {
	readme, err := s.current.ReadReadme()
	switch {
	case err != nil:
		s.printError(err)
	case readme.Predict == "":
		s.printf("\nThis exercise asks for no guess.")
	default:
		s.printf("\n%s", exercises.Wrap(readme.Predict))
		s.guess = &line{}
	}
	s.printFooter()
}

func (s *session) printGuess() {
	s.printf("Your guess in a line (Enter keeps it, Esc drops it):")
	fmt.Fprint(s.Terminal.Out, s.guess.text)
}

func (s *session) typeGuess(ctx context.Context, key string) {
	guess := s.guess.text
	switch key {
	case keyEnter, keyEscape:
		s.guess = nil
	default:
		s.guess.take(key)
		switch typed := s.guess.text; {
		case len(typed) > len(guess):
			fmt.Fprint(s.Terminal.Out, typed[len(guess):])
		case len(typed) < len(guess):
			fmt.Fprint(s.Terminal.Out, "\b \b")
		}
		return
	}
	s.printf("")
	if key == keyEnter && guess != "" {
		if err := exercises.RecordGuess(ctx, s.Checker.Root, s.current, guess); err != nil {
			s.printError(err)
		} else {
			s.printf("\nYour guess is kept. Once you have passed, you will see it next to the answer.")
		}
	}
	s.printFooter()
}
