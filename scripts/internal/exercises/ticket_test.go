package exercises_test

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/exercisetest"
)

const cause = `question: Why is it slow?
answers:
- {text: the queue, because: the queue is empty}
- {text: the cache, right: true, because: the cache is behind}
- {text: the network, because: requests are fast}
- {text: the disk, because: it has none}
`

func TestNamingTheCause(t *testing.T) {
	root := t.TempDir()
	exercisetest.Write(t, root, "01-a", "1-slow", map[string]string{"cause.yaml": cause})
	ticket, err := exercises.FindOne(root, "01/1")
	if err != nil {
		t.Fatal(err)
	}
	open := func() bool {
		t.Helper()
		cause, err := exercises.OpenCause(root, ticket)
		if err != nil {
			t.Fatal(err)
		}
		return cause != nil
	}
	for _, step := range []struct {
		answer         int
		because        string
		wantErr        bool
		openAfterwards bool
	}{
		{answer: 1, because: "the queue is empty", openAfterwards: true},
		{answer: 5, wantErr: true, openAfterwards: true},
		{answer: 0, wantErr: true, openAfterwards: true},
		{answer: 2, because: "the cache is behind"},
		{answer: 3, because: "requests are fast"}, // it stays named
	} {
		answer, err := exercises.NameCause(t.Context(), root, ticket, step.answer)
		if (err != nil) != step.wantErr || answer.Because != step.because || open() != step.openAfterwards {
			t.Errorf("answer %d: got %q, error %v, and the question is open: %v; want %+v", step.answer, answer.Because, err, open(), step)
		}
	}
}

func TestOtherExercisesHaveNoCause(t *testing.T) {
	root := t.TempDir()
	exercisetest.Write(t, root, "01-a", "1-one", nil)
	exercise, err := exercises.FindOne(root, "01/1")
	if err != nil {
		t.Fatal(err)
	}
	if cause, err := exercises.OpenCause(root, exercise); cause != nil || err != nil {
		t.Errorf("got the question %+v, error %v, want none", cause, err)
	}
	if _, err := exercises.NameCause(t.Context(), root, exercise, 1); err == nil {
		t.Error("the answer was accepted, although nothing was asked")
	}
}

func TestMistakesInACause(t *testing.T) {
	for sentence, content := range map[string]string{
		"two answers are right":      strings.Replace(cause, "{text: the disk,", "{text: the disk, right: true,", 1),
		"no answer is right":         strings.Replace(cause, "right: true, ", "", 1),
		"there are three answers":    strings.Replace(cause, "- {text: the disk, because: it has none}\n", "", 1),
		"an answer has no because":   strings.Replace(cause, ", because: it has none", "", 1),
		"a field has a typo":         strings.Replace(cause, "because: it", "becuase: it", 1),
		"there is no question":       strings.Replace(cause, "question: Why is it slow?\n", "", 1),
		"the text isn't YAML at all": "\t",
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			exercisetest.Write(t, root, "01-a", "1-slow", map[string]string{"cause.yaml": content})
			ticket, err := exercises.FindOne(root, "01/1")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ticket.Cause(); err == nil || !strings.Contains(err.Error(), "01-a/exercises/1-slow/cause.yaml") {
				t.Errorf("got error %v, want one that names the file", err)
			}
		})
	}
}
