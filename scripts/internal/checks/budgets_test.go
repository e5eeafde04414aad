package checks

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapterdiff"
	"example.com/operators/scripts/internal/chapters"
)

func TestOverBudget(t *testing.T) {
	row := func(name string, code, toRead int) chapterdiff.Row {
		return chapterdiff.Row{Chapter: chapters.Chapter{Name: name}, Code: code, Lines: chapterdiff.Lines{New: toRead}}
	}
	solved := func(name string, toRead int) chapterdiff.Row {
		return chapterdiff.Row{Chapter: chapters.Chapter{Name: name, Solved: true}, Code: 10000, Lines: chapterdiff.Lines{New: toRead}}
	}
	for sentence, test := range map[string]struct {
		row  chapterdiff.Row
		want string // "" for nothing
	}{
		"exactly the budget":                              {row("02-informers", mostLines["02"].code, mostLines["02"].toRead), ""},
		"one line too many":                               {row("02-informers", mostLines["02"].code+1, 0), "lines of code"},
		"a diff that is one line too long":                {row("02-informers", 0, mostLines["02"].toRead+1), "lines to read"},
		"chapter 01, which has no diff":                   {row("01-raw-watch", 1, 0), ""},
		"07, whose diff has no budget":                    {row("07-tdset-operator", 1, 10000), ""},
		"a chapter without a budget":                      {row("08-more", 1, 1), "no budget"},
		"a solved TDSet within its budget":                {solved("02-informers", mostLines["02-tdset"].toRead), ""},
		"a solved TDSet's diff that is one line too long": {solved("02-informers", mostLines["02-tdset"].toRead+1), "02-informers/exercises/5-tdset: "},
	} {
		t.Run(sentence, func(t *testing.T) {
			var r repository
			r.compareWithBudget(test.row)
			if got := strings.Join(r.problems, "\n"); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("problems %q, want %q", got, test.want)
			}
		})
	}
}
