package checks

// A chapter's exercises.

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"example.com/operators/scripts/internal/exercises"
)

// practice: a chapter's table lists its exercises, and an exercise with a Predict has an Answer.
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
			r.report("%s/README.md: its table has no exercise %d, %q, of %d minutes", e.Chapter.Name, e.Number, e.Title, e.Minutes)
		}
		if strings.Contains(task, "**Predict") && !strings.Contains(task, "<summary>Answer</summary>") {
			r.report("%s: it has a Predict, and no Answer", e.Path(exercises.ReadmeFile))
		}
	}
	return nil
}

// hasRow reports whether a text's table has an exercise: | [K: Title](…) | … | minutes |
func hasRow(text string, e exercises.Exercise) bool {
	row := fmt.Sprintf(`(?m)^\s*\| \[%d: %s\]\(.*\| %d \|\s*$`, e.Number, regexp.QuoteMeta(e.Title), e.Minutes)
	return regexp.MustCompile(row).MatchString(text)
}
