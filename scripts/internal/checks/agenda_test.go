package checks

import (
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testfiles"
)

func TestAgenda(t *testing.T) {
	const (
		page = `# Timetables

## 1h (1:05): a test

| at | min | what | run |
| --- | --- | --- | --- |
| 0:00 | 50 | Welcome | ` + "`status`" + ` |
| | | **Chapter 01**: [One idea](../01-a/README.md) | |
| 0:50 | 15 | [Exercise 01/1: Sums](../01-a/exercises/1-sums/README.md) | ` + "`watch`" + ` |

Again: [exercise 1](../01-a/exercises/1-sums/README.md).
`
		at = "scripts/AGENDA.md:"
	)
	for sentence, test := range map[string]struct {
		old, new string
		want     []string
	}{
		"all is well":        {"", "", nil},
		"two timetables":     {"\nAgain", "\n## 2h (0:05): another\n| 0:00 | 5 | Welcome | |\n\nAgain", nil},
		"another length":     {"(1:05)", "(1:00)", []string{at + "12: timetable 1h takes 1:05, but its heading says 1:00"}},
		"a row too early":    {"| 0:50", "| 0:45", []string{at + "9: this row begins at 0:45, but the rows before it end at 0:50"}},
		"another title":      {"1: Sums", "1: Sum", []string{at + `9: this row should have "| 15 | [Exercise 01/1: Sums](../01-a/exercises/1-sums/README.md)"`}},
		"a chapter's idea":   {"One idea", "Two ideas", []string{at + `8: this row should have "| | | **Chapter 01**: [One idea](../01-a/README.md)"`}},
		"an empty timetable": {"## 1h (1:05)", "## 1d (0:00): none\n## 1h (1:05)", nil},
		"too few minutes":    {"| 0:50 | 15 |", "| 0:50 | 10 |", []string{at + `9: this row should have "| 15 | [Exercise 01/1: Sums](../01-a/exercises/1-sums/README.md)"`, at + "12: timetable 1h takes 1:00, but its heading says 1:05"}},
		"no timetable":       {"(1:05)", "", []string{at + `1: it has no timetable, which begins with a heading such as "## 3h (3:00): a watch, a cache"`}},
		"no minutes at all":  {"| 0:00 | 50 |", "| 0:00 |  |", []string{at + "9: this row begins at 0:50, but the rows before it end at 0:00", at + "12: timetable 1h takes 0:15, but its heading says 1:05"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testfiles.Write(t, t.TempDir(), map[string]string{
				"scripts/AGENDA.md":                 strings.Replace(page, test.old, test.new, 1),
				"01-a/README.md":                    "# 01: a\n\n**One idea.** More.\n",
				"01-a/exercises/1-sums/README.md":   "# 1: Sums\n\nMinutes: 15\n",
				"01-a/exercises/1-sums/exercise.go": "package sums\n",
			})
			got, err := run(t.Context(), root, agenda)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("problems %q, want %q; error %v", got, test.want, err)
			}
		})
	}
}

func TestTheTimetables(t *testing.T) {
	problems, err := run(t.Context(), testfiles.Repository(), agenda)
	if err != nil || len(problems) > 0 {
		t.Errorf("problems %q, error %v", problems, err)
	}
}
