package watch

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/testkit"
)

const listKeys = "j k or arrows move   Enter open   / filter   r reset   l or Esc back   q quit\n"

func TestTheListOpensAnotherExercise(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "01-a", "1-one", nil)
	writeSum(t, root, "01-a", "2-two", nil)
	writeSum(t, root, "02-b", "1-one", map[string]string{"README.md": "# 1: Products\n\nMinutes: 5\n"})
	w := watchOn(t, root, Watch{}, true, 24)
	w.waitFor(keysLine)

	w.press("l")
	w.waitFor("Exercises\n\n> · 01/1  Sums      5 min\n  · 01/2  Sums      5 min\n  · 02/1  Products  5 min\n")
	w.waitFor(listKeys)
	w.press("j" + keyDown + "j") // the last j does nothing
	w.waitFor("> · 02/1  Products")
	w.waitFor("> · 02/1  Products")
	w.press("k")
	w.waitFor("> · 01/2  Sums")
	w.press("l")
	w.waitFor("✗ 01/1 Sums") // is shown again
	w.waitFor(keysLine)

	w.press("l/")
	w.press("qj")
	w.waitFor("No exercise matches.")
	w.waitFor("Filter by chapter, number or title: qj▏")
	w.press(keyBackspace + keyBackspace + "PROD")
	w.waitFor("Exercises with \"PROD\"\n\n> · 02/1  Products  5 min\n\n")
	w.press(keyEnter)
	w.waitFor(listKeys)
	w.press(keyEnter)
	w.waitFor("02/1 Products\n\nChecking 02-b/exercises/1-one/exercise.go …")
	w.waitFor(keysLine)
}

func TestTheListResetsAnExercise(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", nil)
	if !testkit.Commit(t, root) {
		return
	}
	save(t, one, exercisetest.SolvedInPlace+"// Mine.\n")
	w := watchOn(t, root, Watch{}, true, 24)
	w.waitFor("✓ 01/1 Sums: passed")
	w.waitFor(keysLine)

	w.press("lr")
	w.waitFor("Reset 01/1 Sums? Your version is kept. y: yes, any other key: no")
	w.press("q") // means no
	w.waitFor("> ✓ 01/1  Sums")
	w.waitFor(listKeys)
	w.press("ry")
	w.waitFor("> · 01/1  Sums  5 min\n\n01/1 is reset. Your version is kept: .workshop/kept/01-1-")
	w.press(keyEscape)
	w.waitFor("✗ 01/1 Sums") // the reset is a save
	if now, err := os.ReadFile(one.File("exercise.go")); err != nil || string(now) != exercisetest.Given {
		t.Errorf("the file is now %s, error %v", now, err)
	}
}

func TestTheListScrolls(t *testing.T) {
	root := t.TempDir()
	for i := 1; i <= 9; i++ {
		writeSum(t, root, "01-a", fmt.Sprintf("%d-x", i), nil)
	}
	all, err := exercises.All(root)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{Watch: Watch{Exercises: all}}
	s.Checker.Root = root
	s.Terminal.Colours = noColours
	for at, want := range []string{"123", "123", "234", "345", "456", "567", "678", "789", "789"} {
		l := newList(all, all[at])
		screen := l.draw(s, 10)
		if n := strings.Count(screen, "\n"); n != 9 {
			t.Errorf("%d lines, want 9 of the terminal's 10:\n%s", n, screen)
		}
		for i := range 9 {
			if name := fmt.Sprintf("01/%d", i+1); strings.Contains(screen, name) != strings.Contains(want, name[3:]) {
				t.Errorf("%s is selected, want %s, got\n%s", all[at].Name(), want, screen)
			}
		}
		if !strings.Contains(screen, "> · "+all[at].Name()) {
			t.Errorf("%s isn't selected:\n%s", all[at].Name(), screen)
		}
	}
}
