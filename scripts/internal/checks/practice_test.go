package checks

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
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
			root := t.TempDir()
			for file, content := range map[string]string{"README.md": test.chapter, "exercises/1-sums/README.md": test.task, "exercises/1-sums/exercise.go": "package sums\n"} {
				path := filepath.Join(root, "01-raw-watch", file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := practice(t.Context(), root)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("problems %q, want %q; error %v", got, test.want, err)
			}
		})
	}
}
