package exercises

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/problem"
)

func TestInvalidProgressIsAnErrorAndStays(t *testing.T) {
	for sentence, test := range map[string]struct{ content, want string }{
		"no JSON":         {`{"version": 1, "exercises`, "is damaged"},
		"empty":           {``, "is damaged"},
		"something else":  {`{"a": 1}`, "is damaged"},
		"another type":    {`{"version": 1, "exercises": []}`, "is damaged"},
		"a newer version": {`{"version": 5, "exercises": []}`, "was written by a newer workshop (version 5; this one knows 4)"},
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

func TestAnOlderProgressIsKept(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", nil)
	path := filepath.Join(root, ".workshop", "progress.json")
	write(t, path, `{"version": 1, "exercises": {"01-a/1-sum": {"passing": true, "hints": 2}}}`)
	if err := RecordGuess(t.Context(), root, e, "two"); err != nil {
		t.Fatal(err)
	}
	progress, err := ReadProgress(root)
	if want := (Record{Passing: true, Hints: 2, Guess: "two"}); err != nil || progress.Of(e) != want {
		t.Errorf("got %+v, error %v, want %+v", progress.Of(e), err, want)
	}
	if now := read(t, path); !strings.Contains(now, `"version": 4`) {
		t.Errorf("the file is now %s", now)
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
