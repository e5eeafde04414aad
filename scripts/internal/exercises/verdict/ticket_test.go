package verdict

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// A ticket's tests run only after its cause has been named, and the verdict doesn't say where to
// look.
func TestATicket(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, map[string]string{
		"exercise.go": strings.ReplaceAll(testkit.SumGiven, exercises.WorkMark, ""),
		"cause.yaml":  testkit.SumCause,
	})
	check := func() (Verdict, string) {
		t.Helper()
		v, err := Checker{Root: root}.Check(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		return v, v.Text(ui.NewPalette(false), false)
	}
	v, text := check()
	const question = "Why is the sum wrong?\n    1. It's the weather.\n    2. It forgets b.\n"
	if v.Outcome != Unnamed || !strings.Contains(text, question) {
		t.Errorf("before: got outcome %v and\n%s", v.Outcome, text)
	}
	advice, err := v.Advice(root, []exercises.Exercise{e})
	if err != nil || !strings.Contains(advice, "check 01/1 --cause 1") {
		t.Errorf("got the advice %q, error %v", advice, err)
	}
	if _, err := exercises.NameCause(root, e, 2); err != nil {
		t.Fatal(err)
	}
	v, text = check()
	if v.Outcome != Failed || !strings.Contains(text, "the sum is 1, want 2") || strings.Contains(text, "look at") {
		t.Errorf("after: got outcome %v and\n%s", v.Outcome, text)
	}
}
