package testkit

// A small exercise for tests: a learner's sum forgets b.

import (
	_ "embed"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

//go:embed sum.txtar
var sum []byte

// The exercise's files, and its solution as a learner's exercise.go. SumCause would make it a ticket.
var (
	SumGiven         = sumFiles()["exercise.go"]
	SumSolved        = sumFiles()["solution.go"]
	SumSolvedInPlace = strings.Replace(SumSolved, "solution", "!solution", 1)
	SumTest          = sumFiles()["exercise_test.go"]
	SumMistakes      = sumFiles()["mistakes.yaml"]
)

const SumCause = `question: Why is the sum wrong?
answers:
- {text: It's the weather., because: "It was wrong in summer, too."}
- {text: It forgets b., right: true, because: "The sum is always a."}
- {text: It's the compiler., because: "Other sums are right."}
- {text: It's the moon., because: "Look outside."}
`

func sumFiles() map[string]string {
	all := map[string]string{}
	for _, file := range txtar.Parse(sum).Files {
		all[file.Name] = string(file.Data)
	}
	return all
}

// WriteSum writes the exercise into a folder of a chapter. changes replaces files; "" omits a file.
func WriteSum(t testing.TB, root, chapter, name string, changes map[string]string) {
	t.Helper()
	number, _, _ := strings.Cut(name, "-")
	all := sumFiles()
	all["README.md"] = "# " + number + ": Sums\n\nMinutes: 5\n\nAdd.\n"
	all["answer.md"] = "# Answer to " + number + ": Sums\n\n**What you now know:** A sum needs both numbers.\n"
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_, content string) bool { return content == "" })
	Write(t, filepath.Join(root, chapter, "exercises", name), all)
	Write(t, filepath.Join(root, chapter), map[string]string{"go.mod": "module example.com/" + chapter + "\n\ngo 1.26\n"})
}
