package exercises

// Guesses: a learner's answer to the question of an exercise, written down before the work.

import (
	"context"
	"fmt"
	"strings"
)

// RecordGuess records a guess. It replaces an earlier one.
func RecordGuess(ctx context.Context, root string, e Exercise, guess string) error {
	return UpdateProgress(ctx, root, e, func(r *Record) { r.Guess = strings.TrimSpace(guess) })
}

// Debrief returns the text for a learner who has passed: their guess next to the answer, and what
// they have learned. It is "" if there is neither.
func Debrief(e Exercise, record Record) (string, error) {
	readme, err := e.ReadReadme()
	if err != nil {
		return "", err
	}
	var page strings.Builder
	if record.Guess != "" && readme.Answer != "" {
		for _, part := range []string{"The question: " + readme.Predict, "Your guess: " + record.Guess, "The answer: " + readme.Answer} {
			fmt.Fprintf(&page, "%s\n\n", Wrap(part))
		}
	}
	if readme.Learned != "" {
		fmt.Fprintf(&page, "%s\n\n", Wrap("What you now know: "+readme.Learned))
	}
	return page.String(), nil
}
