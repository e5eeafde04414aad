// Package exercisetest writes a made-up exercise for tests, small enough for go test to finish in a moment.
package exercisetest

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testfiles"
)

// The exercise, its solution (also as the learner's own), and its test.
const (
	Given = `//go:build !solution

package sum

// Add adds.
func Add(a, b int) int {
	// YOUR WORK: it forgets b.
	return a
}
`
	Solved = `//go:build solution

package sum

// Add adds.
func Add(a, b int) int { return a + b }
`
	Test = `//go:build check || solution

// fails: TestAdd/one and one is two
// says: the sum is 1, want 2

package sum

import "testing"

func TestAdd(t *testing.T) {
	for sentence, test := range map[string]struct{ a, b, want int }{
		"nothing added is no change": {1, 0, 1},
		"one and one is two":         {1, 1, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Add(test.a, test.b); got != test.want {
				t.Errorf("the sum is %d, want %d", got, test.want)
			}
		})
	}
}
`
	hints = "# Hints\n\n## A nudge\n\nRead it.\n\n## An approach\n\nUse it.\n\n## Nearly the answer\n\n```sh\n## not a heading\na + b\n```\n"
)

// SolvedInPlace is the solution as a learner's exercise.go.
var SolvedInPlace = strings.Replace(Solved, "solution", "!solution", 1)

// Write writes an exercise with that folder's name into a chapter. changes replaces files; "" leaves a file out.
func Write(t testing.TB, root, chapter, name string, changes map[string]string) {
	t.Helper()
	number, _, _ := strings.Cut(name, "-")
	files := map[string]string{}
	for file, content := range map[string]string{
		"README.md":        "# " + number + ": Sums\n\nMinutes: 5\n\nAdd.\n",
		"exercise.go":      Given,
		"solution.go":      Solved,
		"exercise_test.go": Test,
		"hints.md":         hints,
	} {
		if _, changed := changes[file]; !changed {
			files[file] = content
		}
	}
	for file, content := range changes {
		if content != "" {
			files[file] = content
		}
	}
	testfiles.Write(t, filepath.Join(root, chapter, "exercises", name), files)
	testfiles.Write(t, filepath.Join(root, chapter), map[string]string{"go.mod": "module example.com/" + chapter + "\n\ngo 1.26\n"})
}
