package checks

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"example.com/operators/scripts/internal/exercises"
)

// practice: each chapter's text has its exercises in a table, as they call themselves and with the minutes that they take; and an exercise
// that asks for a prediction answers it.
func practice(_ context.Context, r *repository) error {
	found, err := exercises.All(r.root)
	if err != nil {
		return err
	}
	for _, e := range found {
		task, err := r.read(e.Path(exercises.ReadmeFile))
		if err != nil {
			return err
		}
		text, err := r.read(e.Chapter.Name, "README.md")
		if err != nil {
			return err
		}
		if task != "" && !hasRow(text, e) { // the proof reports a missing one
			r.say("%s/README.md: its table has no exercise %d, %q, of %d minutes", e.Chapter.Name, e.Number, e.Title, e.Minutes)
		}
		if strings.Contains(task, "**Predict") && !strings.Contains(task, "<summary>Answer</summary>") {
			r.say("%s: it has a Predict, and no Answer", e.Path(exercises.ReadmeFile))
		}
	}
	return nil
}

// hasRow tells whether a text's table has an exercise: | [K: Title](…) | … | minutes |
func hasRow(text string, e exercises.Exercise) bool {
	row := fmt.Sprintf(`(?m)^\s*\| \[%d: %s\]\(.*\| %d \|\s*$`, e.Number, regexp.QuoteMeta(e.Title), e.Minutes)
	return regexp.MustCompile(row).MatchString(text)
}
