package exercises

import (
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testfiles"
)

const (
	courses  = "// The sum, as in 01/1.\n\npackage sum\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n"
	learners = "//go:build !solution\n\n// Package sum is mine.\npackage sum\n\n// Add adds, my way.\nfunc Add(a, b int) int { return plus(a, b) }\n\nfunc plus(a, b int) int { return b + a }\n"
	carried  = "// The sum, as in 01/1.\n\npackage sum\n\n// Add adds, my way.\nfunc Add(a, b int) int { return plus(a, b) }\n\nfunc plus(a, b int) int { return b + a }\n"
)

// writeTwo writes an exercise, and one that continues it.
func writeTwo(t *testing.T, root string) (first, second Exercise) {
	t.Helper()
	first = writeSum(t, root, "01-a", "1-sum", nil)
	second = writeSum(t, root, "02-b", "1-twice", map[string]string{
		"sum.go":      courses,
		"exercise.go": "//go:build !solution\n\npackage sum\n\n// Twice doubles.\nfunc Twice(a int) int {\n\t// YOUR WORK\n\treturn Add(a, 0)\n}\n",
		"solution.go": "//go:build solution\n\npackage sum\n\n// Twice doubles.\nfunc Twice(a int) int { return Add(a, a) }\n",
		"carry.yaml":  "- {from: 01/1, take: [Add], to: sum.go}\n",
	})
	return first, second
}

func TestCarry(t *testing.T) {
	root := t.TempDir()
	first, second := writeTwo(t, root)
	if !testfiles.Commit(t, root) {
		return
	}
	offers := func(when, want string) {
		t.Helper()
		offer, err := CarryOffer(t.Context(), root, second)
		if err != nil || offer != want {
			t.Errorf("%s: offered %q, want %q; error %v", when, offer, want, err)
		}
	}
	passed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	record := func(r Record) {
		t.Helper()
		if err := UpdateProgress(t.Context(), root, first, func(old *Record) { *old = r }); err != nil {
			t.Fatal(err)
		}
	}
	const offer = "\nThis program can have your own Add from 01/1: ./scripts/workshop carry 02/1"

	offers("before 01/1 is passed", "")
	write(t, first.File("exercise.go"), learners)
	record(Record{Passed: &passed})
	offers("01/1 fails again", "")
	record(Record{Passed: &passed, Passing: true})
	offers("01/1 is passed", offer)
	write(t, first.File("exercise.go"), strings.Replace(read(t, first.File("solution.go")), "solution", "!solution", 1))
	offers("the solution is in place of the learner's work", "")
	write(t, first.File("exercise.go"), learners)

	open, err := ToCarry(t.Context(), root, second)
	if err != nil || len(open) != 1 {
		t.Fatalf("to carry: %v, error %v", open, err)
	}
	if err := CarryOver(t.Context(), root, second, open[0]); err != nil {
		t.Fatal(err)
	}
	if got := read(t, second.File("sum.go")); got != carried {
		t.Errorf("the file is now\n%s\nwant\n%s", got, carried)
	}
	offers("it is carried over", "")
	if !open[0].IsOwn(t.Context(), root, second) {
		t.Error("the learner's code is there, but IsOwn doesn't know it")
	}

	restored, err := UndoCarry(t.Context(), root, second)
	if err != nil || len(restored) != 1 || read(t, second.File("sum.go")) != courses {
		t.Errorf("restored %v, error %v", restored, err)
	}
	offers("it is undone", offer)
	if open[0].IsOwn(t.Context(), root, second) {
		t.Error("the course's file is back, but IsOwn doesn't know it")
	}
	if restored, err := UndoCarry(t.Context(), root, second); err != nil || len(restored) != 0 {
		t.Errorf("there is nothing to undo: restored %v, error %v", restored, err)
	}
}

// Nothing changes if the learner's functions don't fit.
func TestCarryErrors(t *testing.T) {
	for sentence, test := range map[string]struct{ work, want string }{
		"the function has another name": {
			"package sum\n\nfunc Plus(a, b int) int { return a + b }\n",
			"can't carry Add over from 01/1: 01-a/exercises/1-sum/exercise.go declares no Add",
		},
		"the function has other parameters": {
			"package sum\n\nfunc Add(a int) int { return a }\n",
			"your Add from 01/1 doesn't compile in 02/1, so sum.go is still the course's",
		},
		"the file is broken": {
			"package sum\n\nfunc Add(",
			"can't carry Add over from 01/1: ",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			first, second := writeTwo(t, root)
			write(t, first.File("exercise.go"), test.work)
			all, err := second.Carries()
			if err != nil {
				t.Fatal(err)
			}
			err = CarryOver(t.Context(), root, second, all[0])
			if err == nil || !strings.Contains(problem.Format(err), test.want) {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
			if got := read(t, second.File("sum.go")); got != courses {
				t.Errorf("the file has changed:\n%s", got)
			}
		})
	}
}

func TestCarriesErrors(t *testing.T) {
	root := t.TempDir()
	_, second := writeTwo(t, root)
	for content, want := range map[string]string{
		"- {from: 01/1, take: [Add]}\n":                   "02-b/exercises/1-twice/carry.yaml: entry 1 needs the fields from, take and to",
		"- {from: 01/1, take: [Add], to: a.go, as: b.go}": "02-b/exercises/1-twice/carry.yaml: ",
	} {
		write(t, second.File("carry.yaml"), content)
		if _, err := second.Carries(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got the error %v, want %q", content, err, want)
		}
	}
}
