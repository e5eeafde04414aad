package checks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
)

// practice: each chapter's text has its exercises in a table, as they call themselves and with the minutes that they take; and an exercise
// that asks for a prediction answers it.
func practice(_ context.Context, root string) ([]string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, chapter := range all {
		found, err := exercises.In(chapter)
		if err != nil {
			return nil, err
		}
		text, err := read(chapter, "README.md")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range found {
			task, err := os.ReadFile(e.File("README.md"))
			if errors.Is(err, fs.ErrNotExist) {
				continue // that is the proof's to say
			}
			if err != nil {
				return nil, err
			}
			if !hasRow(text, e) {
				problems = append(problems, fmt.Sprintf("%s/README.md: its table has no exercise %d, %q, of %d minutes", chapter.Name, e.Number, e.Title, e.Minutes))
			}
			if strings.Contains(string(task), "**Predict") && !strings.Contains(string(task), "<summary>Answer</summary>") {
				problems = append(problems, e.Path("README.md")+": it has a Predict, and no Answer")
			}
		}
	}
	return problems, nil
}

// hasRow tells whether a text's table has an exercise: | [K: Title](…) | … | minutes |
func hasRow(text string, e exercises.Exercise) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, fmt.Sprintf("| [%d: %s](", e.Number, e.Title)) && strings.HasSuffix(line, fmt.Sprintf("| %d |", e.Minutes)) {
			return true
		}
	}
	return false
}
