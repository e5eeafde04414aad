package exercises

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

func TestNamingTheCause(t *testing.T) {
	root := t.TempDir()
	ticket := writeSum(t, root, "01-a", "1-slow", map[string]string{"cause.yaml": testkit.SumCause})
	for _, step := range []struct {
		answer         int
		because        string
		wantErr        bool
		openAfterwards bool
	}{
		{answer: 1, because: "It was wrong in summer, too.", openAfterwards: true},
		{answer: 5, wantErr: true, openAfterwards: true},
		{answer: 0, wantErr: true, openAfterwards: true},
		{answer: 2, because: "The sum is always a."},
		{answer: 3, because: "Other sums are right."}, // it stays named
	} {
		answer, err := NameCause(root, ticket, step.answer)
		cause, openErr := OpenCause(root, ticket)
		if (err != nil) != step.wantErr || answer.Because != step.because {
			t.Errorf("answer %d: got %q, error %v, want %+v", step.answer, answer.Because, err, step)
		}
		if openErr != nil || (cause != nil) != step.openAfterwards {
			t.Errorf("answer %d: the question is open: %v, error %v", step.answer, cause != nil, openErr)
		}
	}
	other := writeSum(t, root, "01-a", "2-other", nil)
	if cause, err := OpenCause(root, other); cause != nil || err != nil {
		t.Errorf("got the question %+v, error %v, want none", cause, err)
	}
	if _, err := NameCause(root, other, 1); err == nil {
		t.Error("the answer was accepted, although nothing was asked")
	}
}

func TestMistakesInACause(t *testing.T) {
	for sentence, content := range map[string]string{
		"two answers are right":    strings.Replace(testkit.SumCause, "the weather.,", "the weather., right: true,", 1),
		"no answer is right":       strings.Replace(testkit.SumCause, "right: true, ", "", 1),
		"an answer has no because": strings.Replace(testkit.SumCause, `, because: "Look outside."`, "", 1),
		"a field has a typo":       strings.Replace(testkit.SumCause, `because: "Look`, `becuase: "Look`, 1),
	} {
		ticket := writeSum(t, t.TempDir(), "01-a", "1-slow", map[string]string{"cause.yaml": content})
		if _, err := ticket.Cause(); err == nil || !strings.Contains(err.Error(), "01-a/exercises/1-slow/cause.yaml") {
			t.Errorf("%s: got error %v, want one that names the file", sentence, err)
		}
	}
}
