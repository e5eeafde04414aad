package exercises

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const firstKept = ".workshop/kept/01-1-20260102T030405.go"

func TestReset(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "course") // it need not be the top of its repository
	e := writeSum(t, root, "01-a", "1-sum", nil)
	if !testkit.Commit(t, top) {
		return
	}
	reset := func(wantChanged bool, wantKept string) {
		t.Helper()
		changed, kept, err := Reset(t.Context(), root, e, now)
		if err != nil || changed != wantChanged || kept != wantKept {
			t.Errorf("changed %v, kept %q, error %v", changed, kept, err)
		}
		if now := read(t, e.File("exercise.go")); now != testkit.SumGiven {
			t.Errorf("the exercise is now\n%s", now)
		}
	}
	reset(false, "")
	write(t, e.File("exercise.go"), "mine")
	if err := UpdateProgress(root, e, func(r *Record) { *r = Record{Passing: true, Hints: 1, Named: true} }); err != nil {
		t.Fatal(err)
	}
	reset(true, firstKept)
	if own := read(t, filepath.Join(root, firstKept)); own != "mine" {
		t.Errorf("kept %q", own)
	}
	if progress, err := ReadProgress(root); err != nil || progress.Of(e) != (Record{Hints: 1}) {
		t.Errorf("recorded: %+v, error %v", progress.Of(e), err)
	}
	write(t, e.File("exercise.go"), "more") // in the same second
	reset(true, ".workshop/kept/01-1-20260102T030405-2.go")
	if err := os.Remove(e.File("exercise.go")); err != nil {
		t.Fatal(err)
	}
	reset(true, "")
}

func TestResetWithoutGit(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", map[string]string{"exercise.go": "mine"})
	_, _, err := Reset(t.Context(), root, e, now)
	if err == nil || !strings.Contains(problem.Format(err), "what to do: copy the file") {
		t.Errorf("error %v", err)
	}
	if got := read(t, e.File("exercise.go")); got != "mine" {
		t.Errorf("the file is %q", got)
	}
}

func TestSolution(t *testing.T) {
	e := writeSum(t, t.TempDir(), "01-a", "1-sum", map[string]string{
		"exercise.go": strings.Replace(testkit.SumSolvedInPlace, "a + b", "b + a", 1),
	})
	solution, err := Solution(e)
	if err != nil || !strings.HasPrefix(solution, "package sum\n") {
		t.Errorf("got %q, error %v", solution, err)
	}
	const want = "\n-func Add(a, b int) int { return b + a }\n+func Add(a, b int) int { return a + b }\n"
	if diff, err := SolutionDiff(t.Context(), e, false); err != nil || !strings.HasSuffix(diff, want) {
		t.Errorf("got\n%s\nerror %v, want\n%s", diff, err, want)
	}
	write(t, e.File("exercise.go"), testkit.SumSolvedInPlace)
	if diff, err := SolutionDiff(t.Context(), e, false); err != nil || diff != "" {
		t.Errorf("the solution itself: got\n%s\nerror %v", diff, err)
	}
}
