package watch

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/exercises/verdict"
)

// In a ticket, digits answer the question about the cause. After the right answer, the check runs.
func TestDigitsNameTheCause(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "01-a", "1-sum", map[string]string{
		"exercise.go": strings.ReplaceAll(exercisetest.Given, exercises.WorkMark, ""),
		"cause.yaml": `question: Why is the sum wrong?
answers:
- {text: It's the weather., because: "It was wrong in summer, too."}
- {text: It forgets b., right: true, because: "The sum is always a."}
- {text: It's the compiler., because: "Other sums are right."}
- {text: It's the moon., because: "Look outside."}
`,
	})
	w := watch(t, root, verdict.Checker{Root: root}, true)
	w.waitFor("2. It forgets b.")
	w.waitFor("1 to 4 your answer")
	w.press("1")
	w.waitFor("That isn't the cause. It was wrong in summer, too.")
	w.press("9")
	w.waitFor("there is no answer 9")
	w.press("2")
	w.waitFor("Yes. The sum is always a.")
	w.waitFor("the sum is 1, want 2")
	w.waitFor("p your guess")
}
