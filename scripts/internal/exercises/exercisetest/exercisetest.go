// Package exercisetest writes a small exercise for tests.
package exercisetest

import (
	_ "embed"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"example.com/operators/scripts/internal/testkit"
)

//go:embed sum.txtar
var sum []byte

// The exercise, its solution (also as a learner's exercise.go), its test, and wrong answers.
var (
	Given         = files()["exercise.go"]
	Solved        = files()["solution.go"]
	SolvedInPlace = strings.Replace(Solved, "solution", "!solution", 1)
	Test          = files()["exercise_test.go"]
	Mistakes      = files()["mistakes.yaml"]
)

func files() map[string]string {
	all := map[string]string{}
	for _, file := range txtar.Parse(sum).Files {
		all[file.Name] = string(file.Data)
	}
	return all
}

// Write writes an exercise into a folder of a chapter. changes replaces files; "" omits a file.
func Write(t testing.TB, root, chapter, name string, changes map[string]string) {
	t.Helper()
	number, _, _ := strings.Cut(name, "-")
	all := files()
	all["README.md"] = "# " + number + ": Sums\n\nMinutes: 5\n\n<!-- Learned: A sum needs both numbers. -->\n\nAdd.\n"
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_, content string) bool { return content == "" })
	testkit.Write(t, filepath.Join(root, chapter, "exercises", name), all)
	testkit.Write(t, filepath.Join(root, chapter), map[string]string{"go.mod": "module example.com/" + chapter + "\n\ngo 1.26\n"})
}
