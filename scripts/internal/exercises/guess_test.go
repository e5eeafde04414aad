package exercises

import "testing"

func TestDebrief(t *testing.T) {
	const (
		head   = "# 1: Sums\n\nMinutes: 5\n\n"
		know   = "<!-- Learned: A sum needs both numbers. -->\n\n"
		rest   = "Add.\n\n**Predict:** What is 1 + 1?\n\n<details><summary>Answer</summary>\n\nIt is 2.\n</details>\n"
		answer = "The question: What is 1 + 1?\n\nYour guess: 3\n\nThe answer: It is 2.\n\n"
		known  = "What you now know: A sum needs both numbers.\n\n"
	)
	for sentence, test := range map[string]struct{ readme, guess, want string }{
		"a guess, and an idea":      {head + know + rest, " 3\n", answer + known},
		"no guess":                  {head + know + rest, " ", known},
		"no idea":                   {head + rest, "3", answer},
		"a guess without an answer": {head, "3", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			e := writeSum(t, root, "01-a", "1-sum", map[string]string{"README.md": test.readme})
			if err := RecordGuess(t.Context(), root, e, test.guess); err != nil {
				t.Fatal(err)
			}
			progress, err := ReadProgress(root)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Debrief(e, progress.Of(e)); err != nil || got != test.want {
				t.Errorf("got\n%q, error %v, want\n%q", got, err, test.want)
			}
		})
	}
}
