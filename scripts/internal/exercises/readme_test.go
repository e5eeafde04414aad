package exercises

import (
	"strings"
	"testing"
)

func TestReadReadme(t *testing.T) {
	e := writeSum(t, t.TempDir(), "01-a", "1-sum", map[string]string{"README.md": strings.ReplaceAll(`# 1: Sums

Minutes: 5

<!-- Learned: A sum needs both numbers. -->

Somebody adds two numbers with
[a program](program.go) that forgets the second one. It has been in production for years, and

- nobody
  complains

    $ add 1 1
    1

**Read first:** [Numbers](../../README.md#numbers).

**Predict:** What is
1 + 1?

**Your work:** Add.

**Predict:** And 2 + 2?

<details><summary>Answer</summary>

It is 2.

Really.

~~~go
1 +
	1
~~~
</details>
`, "~", "`")})
	got, err := e.ReadReadme()
	if err != nil {
		t.Fatal(err)
	}
	want := Readme{
		Task: "Somebody adds two numbers with a program that forgets the second one. It has " +
			"been in production for years, and\n\n- nobody complains\n\n    $ add 1 1\n    1",
		Predict: "What is 1 + 1?",
		Answer:  "It is 2.\n\nReally.\n\n```go\n1 +\n\t1\n```",
		Learned: "A sum needs both numbers.",
	}
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if short := FirstLines(got.Task, 3, e); !strings.HasSuffix(short, "years, and\n… (the rest: 01-a/exercises/1-sum/README.md)") {
		t.Errorf("three lines: got\n%s", short)
	}
}

func TestAReadmeMayLackEverything(t *testing.T) {
	e := writeSum(t, t.TempDir(), "01-a", "1-sum", map[string]string{"README.md": "# 1: Sums\n"})
	if got, err := e.ReadReadme(); err != nil || got != (Readme{}) {
		t.Errorf("got %+v, error %v", got, err)
	}
}
