package exercises

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

func TestReset(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "course") // it need not be the top of its repository
	e := writeSum(t, root, "01-a", "1-sum", nil)
	if !testkit.Commit(t, top) {
		return
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	reset := func() (changed bool, kept string) {
		t.Helper()
		changed, kept, err := Reset(t.Context(), root, e, at)
		if err != nil {
			t.Fatal(err)
		}
		if now := read(t, e.File("exercise.go")); now != exercisetest.Given {
			t.Errorf("the exercise is now\n%s", now)
		}
		return changed, kept
	}

	if changed, kept := reset(); changed || kept != "" {
		t.Errorf("an unchanged file: changed %v, kept %q", changed, kept)
	}
	for i, want := range []string{"01-1-20260102T030405.go", "01-1-20260102T030405-2.go"} { // in the same second
		own := "mine " + want
		write(t, e.File("exercise.go"), own)
		if err := UpdateProgress(t.Context(), root, e, func(r *Record) { *r = Record{Passing: true, Passed: &at, Hints: i} }); err != nil {
			t.Fatal(err)
		}
		changed, kept := reset()
		if !changed || kept != filepath.Join(".workshop", "kept", want) || read(t, filepath.Join(root, kept)) != own {
			t.Errorf("changed %v, kept as %s", changed, kept)
		}
		progress, err := ReadProgress(root)
		if r := progress.Of(e); err != nil || r.Passing || r.Passed == nil || r.Hints != i {
			t.Errorf("recorded: %+v, error %v", r, err)
		}
	}
	if err := os.Remove(e.File("exercise.go")); err != nil {
		t.Fatal(err)
	}
	if changed, kept := reset(); !changed || kept != "" {
		t.Errorf("a missing file: changed %v, kept %q", changed, kept)
	}
	if left, err := filepath.Glob(e.File("exercise.go.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

func TestResetErrors(t *testing.T) {
	check := func(e Exercise, root, want string) {
		t.Helper()
		_, _, err := Reset(t.Context(), root, e, time.Now())
		if err == nil || !strings.Contains(problem.Format(err), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if now := read(t, e.File("exercise.go")); now != exercisetest.Given {
			t.Errorf("the exercise is now\n%s", now)
		}
	}
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-sum", nil)
	check(one, root, "can't restore 01-a/exercises/1-sum/exercise.go: git doesn't know this folder: ")
	check(one, root, "\n  what to do: copy the file")
	if !testkit.Commit(t, root) {
		return
	}
	two := writeSum(t, root, "01-a", "2-new", nil)
	check(two, root, "can't restore 01-a/exercises/2-new/exercise.go: git doesn't have it\n  what to do: commit it")
	t.Setenv("PATH", t.TempDir())
	check(one, root, "there is no git command here")
}
