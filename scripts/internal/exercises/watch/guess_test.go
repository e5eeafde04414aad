package watch

import (
	"testing"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/exercisetest"
)

const question = "# 1: Sums\n\nMinutes: 5\n\nAdd.\n\n**Predict:** What is 1 + 1?\n\n<details><summary>Answer</summary>\n\nIt is 2.\n</details>\n"

func TestAGuessIsShownNextToTheAnswer(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", map[string]string{"README.md": question})
	w := watch(t, root, noChecker, true)
	w.waitFor("Add.\n\nPredict: What is 1 + 1?\n\nChecking ")
	w.waitFor(keysLine)

	w.press("pno" + keyEscape)
	w.waitFor("Your guess in a line (Enter keeps it, Esc drops it):\nno\n")
	w.waitFor(keysLine)
	w.press("pquite 3" + keyUp + keyBackspace)
	w.waitFor("What is 1 + 1?")
	w.waitFor("quite 3\b \b")
	save(t, one, exercisetest.Given+"// A save doesn't drop it.\n")
	w.waitFor("✗ 01/1 Sums")
	w.waitFor("Your guess in a line (Enter keeps it, Esc drops it):\nquite ")
	w.press("2" + keyEnter)
	w.waitFor("Your guess is kept.")
	w.waitFor(keysLine)

	save(t, one, exercisetest.SolvedInPlace)
	w.waitFor("The question: What is 1 + 1?\n\nYour guess: quite 2\n\nThe answer: It is 2.\n\nWell done.")
	if progress, err := exercises.ReadProgress(root); err != nil || progress.Of(one).Guess != "quite 2" {
		t.Errorf("recorded %+v, error %v", progress.Of(one), err)
	}
}

func TestAnExerciseWithoutAQuestion(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "01-a", "1-one", nil)
	w := watch(t, root, noChecker, true)
	w.waitFor(keysLine)
	w.press("p")
	w.waitFor("This exercise asks for no guess.")
	w.waitFor(keysLine)
	w.press("q")
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
}
