package checks

import (
	"slices"
	"testing"

	"example.com/operators/scripts/internal/testfiles"
)

func TestIntroductions(t *testing.T) {
	const (
		line    = "**Now do [exercise 01/1](exercises/1-sums/README.md) (15 minutes).**\n"
		list    = "\n## Exercises\n\n| [1: Sums](exercises/1-sums/README.md) | adding | 15 |\n"
		folded  = "\n<details><summary>The code (do exercise 01/1 first)</summary>\n"
		missing = `01-raw-watch/README.md: above "## Exercises", one line should be ` +
			`"**Now do [exercise 01/1](exercises/1-sums/README.md) (15 minutes).**"`
	)
	for sentence, test := range map[string]struct {
		chapter string
		want    []string
	}{
		"all is well":              {"# 01\n\n" + line + folded + list, nil},
		"no line":                  {"# 01\n" + list, []string{missing}},
		"another wording":          {"# 01\n\nNow do [exercise 1](exercises/1-sums/README.md).\n" + list, []string{missing}},
		"other minutes":            {"# 01\n\n**Now do [exercise 01/1](exercises/1-sums/README.md) (5 minutes).**\n" + list, []string{missing}},
		"in the list only":         {"# 01\n" + list + "\n" + line, []string{missing}},
		"in a sentence":            {"# 01\n\nThe end. " + line + list, []string{missing}},
		"twice":                    {"# 01\n\n" + line + "\n" + line + list, []string{missing}},
		"after what it gives away": {"# 01\n" + folded + "\n" + line + list, []string{`01-raw-watch/README.md: it has a passage "(do exercise 01/1 first)" above the line that introduces this exercise`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testfiles.Write(t, t.TempDir(), map[string]string{
				"01-raw-watch/README.md":                    test.chapter,
				"01-raw-watch/exercises/0-early/README.md":  "# 0: Early\n\nMinutes: 2\n",
				"01-raw-watch/exercises/1-sums/README.md":   "# 1: Sums\n\nMinutes: 15\n",
				"01-raw-watch/exercises/1-sums/exercise.go": "package sums\n",
			})
			got, err := run(t.Context(), root, introductions)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("problems %q, want %q; error %v", got, test.want, err)
			}
		})
	}
}

func TestTheIntroductions(t *testing.T) {
	problems, err := run(t.Context(), testfiles.Repository(), introductions)
	if err != nil || len(problems) > 0 {
		t.Errorf("problems %q, error %v", problems, err)
	}
}
