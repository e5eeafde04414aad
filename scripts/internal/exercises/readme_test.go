package exercises

import (
	"strings"
	"testing"
)

func TestReadme(t *testing.T) {
	e := writeSum(t, t.TempDir(), "01-a", "1-sum", map[string]string{"README.md": `# 1: Sums

Minutes: 5

Somebody adds two numbers.
`})
	if got, want := e.Readme, (Readme{Title: "Sums", Minutes: 5}); got != want {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestPlainText(t *testing.T) {
	got := plainText(`Somebody adds two numbers with
[a program](program.go) that **forgets** the second one. It has been in production for years, and

- nobody
  complains

    $ add 1 1
    1
`)
	const want = "Somebody adds two numbers with a program that forgets the second one. It has " +
		"been in production for years, and\n\n- nobody complains\n\n    $ add 1 1\n    1"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const file = "01-a/exercises/1-sum/answer.md"
	if short := FirstLines(got, 3, file); !strings.HasSuffix(short, "years, and\n… (the rest: "+file+")") {
		t.Errorf("three lines: got\n%s", short)
	}
}
