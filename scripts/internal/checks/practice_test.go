package checks

import (
	"slices"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

func TestPractice(t *testing.T) {
	const (
		row    = "| [1: Sums](exercises/1-sums/README.md) | adding | 15 |\n"
		task   = "# 1: Sums\n\nMinutes: 15\n"
		answer = "\n<details><summary>Answer</summary>\n"
	)
	for sentence, test := range map[string]struct {
		chapter, task string
		want          []string
	}{
		"all is well":         {row, task, nil},
		"an answered predict": {row, task + "\n**Predict.** 1 + 1?\n" + answer, nil},
		"no answer": {
			row, task + "\n**Predict.** 1 + 1?\n", []string{"01-raw-watch/exercises/1-sums/README.md: it has a Predict, and no Answer"},
		},
		"another title": {
			"| [1: Differences](exercises/1-sums/README.md) | adding | 15 |\n", task,
			[]string{`01-raw-watch/README.md: its table has no exercise 1, "Sums", of 15 minutes`},
		},
		"other minutes": {
			"| [1: Sums](exercises/1-sums/README.md) | adding | 5 |\n", task,
			[]string{`01-raw-watch/README.md: its table has no exercise 1, "Sums", of 15 minutes`},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testkit.Write(t, t.TempDir(), map[string]string{
				"01-raw-watch/README.md":                    test.chapter,
				"01-raw-watch/exercises/1-sums/README.md":   test.task,
				"01-raw-watch/exercises/1-sums/exercise.go": "package sums\n",
			})
			got, err := run(t.Context(), root, practice)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("problems %q, want %q; error %v", got, test.want, err)
			}
		})
	}
}
