package exercises

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

type course struct {
	*testing.T
	root string
	all  []Exercise
}

func newCourse(t *testing.T) course {
	root := t.TempDir()
	for _, name := range []string{"1-one", "2-two", "3-three"} {
		writeSum(t, root, "01-a", name, nil)
	}
	writeSum(t, root, "02-b", "1-one", nil)
	all, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	return course{t, root, all}
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (r course) writes(n int, own string) { r.Helper(); write(r.T, r.all[n].File(ExerciseFile), own) }

func (r course) passes(n int) {
	r.Helper()
	if err := UpdateProgress(r.Context(), r.root, r.all[n], func(r *Record) { r.Passing, r.Passed = true, &now }); err != nil {
		r.Fatal(err)
	}
}

func (r course) catchesUp(last int) []Move {
	r.Helper()
	moves, err := CatchUp(r.Context(), r.root, r.all[:last+1], now)
	if err != nil {
		r.Fatal(err)
	}
	return moves
}

func (r course) restores(evenChanged bool, exercises ...Exercise) []Move {
	r.Helper()
	moves, err := Restore(r.Context(), r.root, exercises, evenChanged, now)
	if err != nil {
		r.Fatal(err)
	}
	return moves
}

// has compares the exercises' files.
func (r course) has(want ...string) {
	r.Helper()
	for n, content := range want {
		if got := read(r.T, r.all[n].File(ExerciseFile)); got != content {
			r.Errorf("%s is now\n%s\nwant\n%s", r.all[n].Name(), got, content)
		}
	}
}

// kept returns the kept files by name.
func (r course) kept() map[string]string {
	r.Helper()
	found := map[string]string{}
	_ = filepath.WalkDir(filepath.Join(r.root, ".workshop", keptFolder), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(filepath.Join(r.root, ".workshop", keptFolder), path)
			found[filepath.ToSlash(name)] = read(r.T, path)
		}
		return nil
	})
	return found
}

func kinds(moves []Move) (kinds []MoveKind) {
	for _, move := range moves {
		kinds = append(kinds, move.Done)
	}
	return kinds
}

func TestCatchUpAndRestore(t *testing.T) {
	r := newCourse(t)
	const passed, begun = "what passes", "what was begun"
	r.writes(0, passed)
	r.passes(0)
	r.writes(1, begun)

	moves := r.catchesUp(2)
	if want := []MoveKind{MovePassed, MoveSolved, MoveSolved}; !slices.Equal(kinds(moves), want) {
		t.Errorf("done: %v, want %v", kinds(moves), want)
	}
	r.has(passed, exercisetest.SolvedInPlace, exercisetest.SolvedInPlace, exercisetest.Given)
	if kept := r.kept(); len(kept) != 2 || kept["catch-up-01-a-2-two.go"] != begun || kept["catch-up-01-a-3-three.go"] != exercisetest.Given {
		t.Errorf("kept: %v", kept)
	}

	if moves := r.catchesUp(2); !slices.Equal(kinds(moves), []MoveKind{MovePassed, MoveAlready, MoveAlready}) {
		t.Errorf("caught up again: %v", kinds(moves))
	}
	if len(r.kept()) != 2 {
		t.Errorf("caught up again, kept: %v, want two files", r.kept())
	}

	if moves := r.restores(false, r.all...); !slices.Equal(kinds(moves), []MoveKind{MoveRestored, MoveRestored}) {
		t.Errorf("restored: %v, want two", kinds(moves))
	}
	r.has(passed, begun, exercisetest.Given, exercisetest.Given)
	if len(r.kept()) != 0 {
		t.Errorf("still kept: %v, want nothing", r.kept())
	}
	if moves := r.restores(false, r.all...); len(moves) != 0 {
		t.Errorf("restored again: %v, want nothing", kinds(moves))
	}
	r.has(passed, begun, exercisetest.Given, exercisetest.Given)
}

func TestAChangedSolutionIsTheLearnersWork(t *testing.T) {
	r := newCourse(t)
	const begun, changed = "what was begun", "what was made of the solution"
	r.writes(0, begun)
	r.catchesUp(1)
	r.writes(0, changed)

	moves := r.restores(false, r.all...)
	if !slices.Equal(kinds(moves), []MoveKind{MoveChanged, MoveRestored}) {
		t.Errorf("restored: %v, want the second exercise only", kinds(moves))
	}
	r.has(changed, exercisetest.Given)

	r.catchesUp(0)
	r.has(exercisetest.SolvedInPlace)
	if kept := r.kept(); kept["catch-up-01-a-1-one.go"] != begun || kept["01-1-20260102T030405.go"] != changed {
		t.Errorf("caught up again, kept: %v", kept)
	}

	r.writes(0, changed+" again")
	moves = r.restores(true, r.all[0])
	r.has(begun)
	if want := filepath.Join(".workshop", "kept", "01-1-20260102T030405-2.go"); len(moves) != 1 || moves[0].Kept != want || read(t, filepath.Join(r.root, want)) != changed+" again" {
		t.Errorf("restored by name: %+v", moves)
	}
}

// Each case is the state after an interrupted run. The next run has the same result.
func TestAnInterruptedRunContinues(t *testing.T) {
	const begun = "what was begun"
	aside := func(r course, content string) { write(r.T, asidePath(r.root, r.all[0]), content) }
	for sentence, test := range map[string]struct {
		left func(course)
		back bool // Restore was interrupted, not CatchUp
	}{
		"CatchUp, before it changed anything":        {left: func(r course) {}},
		"CatchUp, after it kept the learner's file":  {left: func(r course) { aside(r, begun) }},
		"CatchUp, after it wrote the solution":       {left: func(r course) { aside(r, begun); r.writes(0, exercisetest.SolvedInPlace) }},
		"CatchUp, with a partly written file":        {left: func(r course) { write(r.T, r.all[0].File("exercise.go.123"), "//go:b") }},
		"Restore, before it changed anything":        {left: func(r course) { aside(r, begun); r.writes(0, exercisetest.SolvedInPlace) }, back: true},
		"Restore, after it wrote the learner's file": {left: func(r course) { aside(r, begun) }, back: true},
		"Restore, with a check of the solution":      {left: func(r course) { aside(r, begun); r.passes(0) }, back: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := newCourse(t)
			r.writes(0, begun)
			test.left(r)
			if !test.back {
				r.catchesUp(0)
				r.has(exercisetest.SolvedInPlace)
			}
			r.restores(false, r.all...)
			r.has(begun)
			if len(r.kept()) != 0 {
				t.Errorf("kept: %v, want nothing", r.kept())
			}
			progress, err := ReadProgress(r.root)
			if err != nil || progress.Of(r.all[0]).Passing {
				t.Errorf("remembered: %+v, error %v", progress.Of(r.all[0]), err)
			}
		})
	}
}

func TestAMissingFile(t *testing.T) {
	r := newCourse(t)
	r.passes(0)
	if err := os.Remove(r.all[0].File(ExerciseFile)); err != nil {
		t.Fatal(err)
	}
	if moves := r.catchesUp(0); moves[0].Done != MoveSolved || len(r.kept()) != 0 {
		t.Errorf("done: %+v", moves)
	}
	r.has(exercisetest.SolvedInPlace)
	if err := os.Remove(r.all[0].File(SolutionFile)); err != nil {
		t.Fatal(err)
	}
	moves, err := CatchUp(t.Context(), r.root, r.all, now)
	if err == nil || len(moves) != 0 || !strings.Contains(problem.Format(err), "solution.go is missing\n  what to do: git checkout") {
		t.Errorf("%v, error %v", kinds(moves), err)
	}
	r.has(exercisetest.SolvedInPlace, exercisetest.Given)
}

func TestACaughtUpExerciseIsNotSolved(t *testing.T) {
	r := newCourse(t)
	r.passes(0)
	r.writes(0, "mine")
	r.catchesUp(1)
	show := func() string {
		progress, err := ReadProgress(r.root)
		if err != nil {
			t.Fatal(err)
		}
		if open, found := FirstOpen(r.all, progress); !found || open.Name() != "01/3" {
			t.Errorf("the first open one is %s", open.Name())
		}
		return Table(r.all, progress, ui.NewPalette(false))
	}
	const rows = `
  ✓ 01/1  Sums  5 min
  » 01/2  Sums  5 min    caught up
  · 01/3  Sums  5 min

02-b: 0 of 1 passed (0 %)
  · 02/1  Sums  5 min

`
	if got, want := show(), "01-a: 1 of 3 passed (33 %), 1 caught up, not solved"+rows+"In all: 1 of 4 passed (25 %), 1 caught up, not solved\n"; got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
	if err := RecordCheck(t.Context(), r.root, r.all[1], true); err != nil {
		t.Fatal(err)
	}
	if got, want := show(), "01-a: 2 of 3 passed (66 %), 1 caught up, not solved"+rows+"In all: 2 of 4 passed (50 %), 1 caught up, not solved\n"; got != want {
		t.Errorf("checked, it shows\n%s\nwant\n%s", got, want)
	}
	r.writes(1, exercisetest.SolvedInPlace+"\n// My own.\n")
	if err := RecordCheck(t.Context(), r.root, r.all[1], true); err != nil {
		t.Fatal(err)
	}
	if got := show(); strings.Contains(got, "caught up") {
		t.Errorf("with a change that passes, it shows\n%s", got)
	}
}
