package exercises

import (
	"testing"

	"example.com/operators/scripts/internal/ui"
)

func TestNextHint(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", nil)
	const (
		first  = "Hint 1 of 3: A nudge\n\nRead it.\n\n"
		second = "Hint 2 of 3: An approach\n\nUse it.\n\n"
		last   = "Hint 3 of 3: Nearly the answer\n\n    # not a heading\n    a + b\n\n" +
			"That was the last one. The solution: ./scripts/workshop solution 01/1 --spoil\n"
	)
	show := func() string {
		t.Helper()
		hint, err := NextHint(root, e, ui.NewPalette(false))
		if err != nil {
			t.Fatal(err)
		}
		return hint
	}
	for i, want := range []string{first, second, last, last} {
		if got := show(); got != want {
			t.Errorf("call %d: got\n%s\nwant\n%s", i+1, got, want)
		}
	}
	progress, err := ReadProgress(root)
	if err != nil || progress.Of(e).Hints != 3 {
		t.Errorf("%d hints are recorded, error %v, want 3", progress.Of(e).Hints, err)
	}
}

func TestInvalidHints(t *testing.T) {
	for sentence, content := range map[string]string{
		"one is missing":     "## A nudge\n\na\n\n## An approach\n\nb\n",
		"one is empty":       "## A nudge\n\na\n\n## An approach\n\n## Nearly the answer\n\nc\n",
		"in another order":   "## An approach\n\na\n\n## A nudge\n\nb\n\n## Nearly the answer\n\nc\n",
		"there are none yet": "",
	} {
		t.Run(sentence, func(t *testing.T) {
			e := writeSum(t, t.TempDir(), "01-a", "1-sum", map[string]string{"hints.md": content})
			if hints, err := Hints(e); err == nil {
				t.Errorf("got %q, want an error", hints)
			}
		})
	}
}
