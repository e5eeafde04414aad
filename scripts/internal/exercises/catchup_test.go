package exercises

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func kept(t *testing.T, root string) (files []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, ".workshop", keptFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		files = append(files, read(t, filepath.Join(root, ".workshop", keptFolder, entry.Name())))
	}
	return files
}

// Each step is a command or a save. Nothing that the learner has written is ever lost.
func TestCatchUpAndRestore(t *testing.T) {
	const inPlace = "the solution is in place"
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", map[string]string{"exercise.go": "mine"})
	catchUp := func() (string, error) { return CatchUp(root, e, now) }
	restore := func() (string, error) { return Restore(root, e, now) }
	save := func(content string) func() (string, error) {
		return func() (string, error) { write(t, e.File(ExerciseFile), content); return "", nil }
	}
	check := func(passing bool) func() (string, error) {
		return func() (string, error) { return "", RecordCheck(root, e, passing) }
	}
	const changedKept = "; your changed solution is kept: .workshop/kept/01-1-20260102T030405-2.go"
	for i, step := range []struct {
		do    func() (string, error)
		says  string
		file  string
		table string // the exercise's row
	}{
		{restore, "", "mine", "· 01/1  Sums  5 min"},
		{catchUp, inPlace, testkit.SumSolvedInPlace, "» 01/1  Sums  5 min    caught up"},
		{catchUp, inPlace, testkit.SumSolvedInPlace, "» 01/1  Sums  5 min    caught up"},
		{check(false), "", testkit.SumSolvedInPlace, "» 01/1  Sums  5 min    caught up"},
		{restore, "restored", "mine", "· 01/1  Sums  5 min"},
		{restore, "", "mine", "· 01/1  Sums  5 min"},
		{catchUp, inPlace, testkit.SumSolvedInPlace, "» 01/1  Sums  5 min    caught up"},
		{save("changed"), "", "changed", "» 01/1  Sums  5 min    caught up"},
		{catchUp, inPlace + changedKept, testkit.SumSolvedInPlace, "» 01/1  Sums  5 min    caught up"},
		{save("changed too"), "", "changed too", "» 01/1  Sums  5 min    caught up"},
		{restore, "restored" + strings.Replace(changedKept, "-2.go", "-3.go", 1), "mine", "· 01/1  Sums  5 min"},
		{catchUp, inPlace, testkit.SumSolvedInPlace, "» 01/1  Sums  5 min    caught up"},
		{check(true), "", testkit.SumSolvedInPlace, "✓ 01/1  Sums  5 min"}, // a passed check wins
		{catchUp, "passed: yours stays", testkit.SumSolvedInPlace, "✓ 01/1  Sums  5 min"},
		{restore, "restored", "mine", "· 01/1  Sums  5 min"},
	} {
		says, err := step.do()
		if err != nil || says != step.says {
			t.Errorf("step %d: it says %q, error %v, want %q", i, says, err, step.says)
		}
		if got := read(t, e.File(ExerciseFile)); got != step.file {
			t.Errorf("step %d: the file is\n%s\nwant\n%s", i, got, step.file)
		}
		progress, err := ReadProgress(root)
		if err != nil {
			t.Fatal(err)
		}
		if table := Table([]Exercise{e}, progress, ui.NewPalette(false)); !strings.Contains(table, "\n  "+step.table+"\n") {
			t.Errorf("step %d: the table is\n%s\nwant the row %s", i, table, step.table)
		}
	}
	if got := strings.Join(kept(t, root), ", "); got != "changed, changed too" {
		t.Errorf("kept: %s", got)
	}
}

// An exercise is caught up because of catch-up, and not because the files are equal.
func TestASolutionByHandIsPassed(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", map[string]string{"exercise.go": testkit.SumSolvedInPlace})
	if err := RecordCheck(root, e, true); err != nil {
		t.Fatal(err)
	}
	progress, err := ReadProgress(root)
	if r := progress.Of(e); err != nil || !r.Passing || r.CaughtUp {
		t.Errorf("recorded %+v, error %v", r, err)
	}
}

func TestCatchUpWithoutAFile(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", map[string]string{"exercise.go": ""})
	if _, err := CatchUp(root, e, now); err != nil {
		t.Fatal(err)
	}
	if got := read(t, e.File(ExerciseFile)); got != testkit.SumSolvedInPlace {
		t.Errorf("the file is\n%s", got)
	}
	if err := os.Remove(e.File(SolutionFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := CatchUp(root, e, now); err == nil {
		t.Error("without a solution: no error")
	}
}
