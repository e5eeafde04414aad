package exercises

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

func TestSolutionIsShownWithoutItsTag(t *testing.T) {
	solution, err := Solution(writeSum(t, t.TempDir(), "01-a", "1-sum", nil))
	if err != nil || !strings.HasPrefix(solution, "package sum\n") {
		t.Errorf("got %q, error %v", solution, err)
	}
}

func TestSolutionDiff(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", nil)
	if !testkit.Commit(t, root) {
		return
	}
	diff := func() string {
		t.Helper()
		got, err := SolutionDiff(t.Context(), root, e, ui.NewPalette(false))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := diff(); got != "" {
		t.Errorf("as given: got\n%s", got)
	}

	mine := strings.Replace(exercisetest.SolvedInPlace, "a + b", "b + a", 1)
	const want = `--- 01-a/exercises/1-sum/exercise.go
+++ 01-a/exercises/1-sum/solution.go
@@ -3,4 +3,4 @@
 package sum
 
 // Add adds.
-func Add(a, b int) int { return b + a }
+func Add(a, b int) int { return a + b }
`
	write(t, e.File("exercise.go"), mine)
	if got := diff(); got != want {
		t.Errorf("changed: got\n%s\nwant\n%s", got, want)
	}
	if err := RecordCheck(t.Context(), root, e, true); err != nil {
		t.Fatal(err)
	}
	testkit.Commit(t, root)
	if got := diff(); got != want {
		t.Errorf("passed and committed: got\n%s", got)
	}

	write(t, e.File("exercise.go"), exercisetest.SolvedInPlace)
	if got := diff(); got != "" {
		t.Errorf("the solution itself: got\n%s", got)
	}
}
