package exercises

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func TestInvalidProgressIsAnErrorAndStays(t *testing.T) {
	for sentence, content := range map[string]string{
		"no JSON":        `{"exercises`,
		"something else": `{"a": 1}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			e := writeSum(t, root, "01-a", "1-sum", nil)
			path := filepath.Join(root, ".workshop", "progress.json")
			write(t, path, content)
			if _, err := ReadProgress(root); err == nil || !strings.Contains(problem.Format(err), "what to do: ") {
				t.Errorf("error %v, want what to do", err)
			}
			if err := RecordCheck(root, e, true); err == nil {
				t.Error("RecordCheck: no error")
			}
			if now := read(t, path); now != content {
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
			if err := UpdateProgress(root, e, func(r *Record) { r.Hints++ }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	progress, err := ReadProgress(root)
	if err != nil || progress.Of(e).Hints != writers {
		t.Errorf("%d of %d updates are recorded, error %v", progress.Of(e).Hints, writers, err)
	}
}

func TestTable(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", nil)
	writeSum(t, root, "01-a", "2-two", map[string]string{"README.md": ""})
	writeSum(t, root, "01-a", "10-ten", nil)
	judged := writeSum(t, root, "02-b", "1-one", nil)
	for e, record := range map[Exercise]Record{one: {Passing: true, Hints: 2}, judged: {Judged: true}} {
		if err := UpdateProgress(root, e, func(r *Record) { *r = record }); err != nil {
			t.Fatal(err)
		}
	}
	all, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	progress, err := ReadProgress(root)
	if err != nil {
		t.Fatal(err)
	}
	if open, found, err := NextOpen(root, all, Exercise{}); !found || err != nil || open.Name() != "01/2" {
		t.Errorf("the first open one is %s, error %v", open.Name(), err)
	}
	for after, want := range map[int]string{0: "01/2", 1: "01/10", 3: "01/2"} {
		if open, _, err := NextOpen(root, all, all[after]); err != nil || open.Name() != want {
			t.Errorf("after %s: %s, want %s; error %v", all[after].Name(), open.Name(), want, err)
		}
	}
	all[2].Core = true
	if open, _, err := NextOpen(root, all, Exercise{}); err != nil || open.Name() != "01/10" {
		t.Errorf("the first on the core path is %s, error %v", open.Name(), err)
	}
	all[2].Core = false
	want := `01-a: 1 of 3 passed
  ✓ 01/1   Sums   5 min  2 hints
  · 01/2   2-two
  · 01/10  Sums   5 min

02-b: 0 of 1 passed
  · 02/1  Sums  5 min    judged

Listed here: 1 of 4 passed
`
	if got := Table(all, progress, ui.NewPalette(false)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
