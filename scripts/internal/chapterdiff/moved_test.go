package chapterdiff

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/testfiles"
)

// A function that a learner writes in one exercise is given in the next one, in a file of its own.
func TestMovedCodeIsTheSame(t *testing.T) {
	root := testfiles.Write(t, t.TempDir(), map[string]string{
		"01-a/exercises/5-tdset/solution.go": "//go:build solution\n\npackage main\n\n// at is when.\nfunc at() int { return 9 }\n\n// run runs.\nfunc run() { at() }\n",
		"02-b/exercises/5-tdset/carry.yaml":  "- {from: 01/5, take: [at], to: schedule.go}\n",
		"02-b/exercises/5-tdset/schedule.go": "// The schedule.\n\npackage main\n\n// at is when.\nfunc at() int { return 9 }\n",
		"02-b/exercises/5-tdset/solution.go": "//go:build solution\n\npackage main\n\n// run runs.\nfunc run() { at(); at() }\n",
	})
	solved := func(name string) chapters.Chapter {
		return chapters.Chapter{Name: name, Dir: filepath.Join(root, name, "exercises", "5-tdset"), Solved: true}
	}
	diff, err := Compare(solved("01-a"), solved("02-b"), false)
	if err != nil {
		t.Fatal(err)
	}
	if got := diff.lines(); got != (Lines{Removed: 1, Added: 1}) {
		t.Errorf("%+v lines differ, want one removed and one added:\n%s", got, printed(t, diff, false))
	}
	if page := printed(t, diff, false); !strings.Contains(page, "The same in both: schedule.go.") {
		t.Errorf("the diff doesn't say that schedule.go is the same:\n%s", page)
	}
}
