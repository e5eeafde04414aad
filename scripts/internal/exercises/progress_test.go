package exercises

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func TestInvalidProgressIsAnErrorAndStays(t *testing.T) {
	for sentence, test := range map[string]struct{ content, want string }{
		"no JSON":         {`{"version": 1, "exercises`, "is damaged"},
		"empty":           {``, "is damaged"},
		"something else":  {`{"a": 1}`, "is damaged"},
		"another type":    {`{"version": 1, "exercises": []}`, "is damaged"},
		"a newer version": {`{"version": 2, "exercises": []}`, "was written by a newer workshop (version 2; this one knows 1)"},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			e := writeSum(t, root, "01-a", "1-sum", nil)
			path := filepath.Join(root, ".workshop", "progress.json")
			write(t, path, test.content)
			_, err := ReadProgress(root)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(problem.Format(err), "what to do: ") {
				t.Errorf("error %v, want %q and what to do", err, test.want)
			}
			if err := UpdateProgress(t.Context(), root, e, func(r *Record) { r.Passing = true }); err == nil {
				t.Error("UpdateProgress: no error")
			}
			if now := read(t, path); now != test.content {
				t.Errorf("the file is now %q", now)
			}
		})
	}
}

// Watch may run in one terminal, and hint in others.
func TestConcurrentUpdatesOfProgress(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", nil)
	const writers = 20
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			if err := UpdateProgress(t.Context(), root, e, func(r *Record) { r.Hints++ }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	progress, err := ReadProgress(root)
	if err != nil || progress.Of(e).Hints != writers {
		t.Errorf("%d of %d updates are recorded, error %v", progress.Of(e).Hints, writers, err)
	}
	entries, err := os.ReadDir(filepath.Join(root, ".workshop"))
	if err != nil || len(entries) != 2 {
		t.Errorf("files are %v, error %v, want the progress and its lock", entries, err)
	}
}

func TestPassing(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", nil)
	check := func(passing bool, source string) Record {
		t.Helper()
		write(t, e.File("exercise.go"), source)
		if err := RecordCheck(t.Context(), root, e, passing); err != nil {
			t.Fatal(err)
		}
		progress, err := ReadProgress(root)
		if err != nil {
			t.Fatal(err)
		}
		return progress.Of(e)
	}
	if r := check(false, exercisetest.Given); r.Passing || r.Passed != nil {
		t.Errorf("as given: %+v", r)
	}
	if r := check(true, exercisetest.SolvedInPlace); !r.Passing || r.Passed != nil {
		t.Errorf("with the course's solution: %+v", r)
	}
	first := check(true, exercisetest.SolvedInPlace+"\n// My own.\n")
	if !first.Passing || first.Passed == nil {
		t.Errorf("solved: %+v", first)
	}
	if r := check(false, exercisetest.Given); r.Passing || r.Passed == nil || !r.Passed.Equal(*first.Passed) {
		t.Errorf("broken again: %+v, want Passing false and the first Passed", r)
	}
}

func TestTable(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", nil)
	writeSum(t, root, "01-a", "2-two", map[string]string{"README.md": ""})
	writeSum(t, root, "01-a", "10-ten", nil)
	writeSum(t, root, "02-b", "1-one", nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := UpdateProgress(t.Context(), root, one, func(r *Record) { *r = Record{Passing: true, Passed: &at, Hints: 2} }); err != nil {
		t.Fatal(err)
	}
	all, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	progress, err := ReadProgress(root)
	if err != nil {
		t.Fatal(err)
	}
	if open, found := FirstOpen(all, progress); !found || open.Name() != "01/2" {
		t.Errorf("the first open one is %s", open.Name())
	}
	want := `01-a: 1 of 3 passed (33 %)
  ✓ 01/1   Sums   5 min  2 hints
  · 01/2   2-two
  · 01/10  Sums   5 min

02-b: 0 of 1 passed (0 %)
  · 02/1  Sums  5 min

In all: 1 of 4 passed (25 %)
`
	if got := Table(all, progress, ui.NewPalette(false)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
