package watch

// Watch mode, with a pipe as keyboard and a buffer as screen. The tests wait for text on the screen,
// never for a time.

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// watching is a Watch that runs.
type watching struct {
	t      *testing.T
	keys   *io.PipeWriter
	end    context.CancelFunc
	ended  chan error
	closed chan struct{} // when the terminal was restored

	mu     sync.Mutex
	screen string
	seen   int // the end of the text that the test has waited for
}

func (w *watching) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.screen += string(p)
	return len(p), nil
}

// waitFor waits for a text after the one that it has waited for before.
func (w *watching) waitFor(text string) {
	w.t.Helper()
	testkit.Await(w.t, time.Minute, fmt.Sprintf("%q is on the screen", text), func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		i := strings.Index(w.screen[w.seen:], text)
		if i < 0 {
			return fmt.Errorf("it shows\n%s", w.screen[w.seen:])
		}
		w.seen += i + len(text)
		return nil
	})
}

func (w *watching) press(key string) {
	w.t.Helper()
	if _, err := w.keys.Write([]byte(key)); err != nil {
		w.t.Fatal(err)
	}
}

// watch begins with the first exercise in root.
func watch(t *testing.T, root string, withKeys bool) *watching {
	t.Helper()
	all, err := exercises.All(root)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := &watching{t: t, end: cancel, ended: make(chan error, 1), closed: make(chan struct{})}
	terminal := Terminal{Out: w, Colours: ui.NewPalette(false), Close: func() { close(w.closed) }}
	if withKeys {
		terminal.Keys, w.keys = io.Pipe()
	}
	checker := verdict.Checker{Root: root, Limit: time.Minute}
	go func() {
		w.ended <- Watch{Checker: checker, Terminal: terminal, Exercises: all, Start: all[0]}.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-w.closed
	})
	return w
}

// writeSum writes testkit's exercise, and returns it.
func writeSum(t *testing.T, root, name string, changes map[string]string) exercises.Exercise {
	t.Helper()
	testkit.WriteSum(t, root, "01-a", name, changes)
	e, err := exercises.FindOne(root, "01-a/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// save replaces exercise.go atomically, as many editors do.
func save(t *testing.T, e exercises.Exercise, content string) {
	t.Helper()
	testkit.Write(t, e.Dir(), map[string]string{"4913": content})
	if err := os.Rename(e.File("4913"), e.File("exercise.go")); err != nil {
		t.Fatal(err)
	}
}

const (
	keysLine = "h hint   l list   n next   c check again   q quit\n"
	// hangingSum never returns, so its check takes until the time limit.
	hangingSum = "//go:build !solution\n\npackage sum\n\nfunc Add(a, b int) int { select {} }\n"
)

func TestWatchFromAFailureToTheNextExercise(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "1-one", nil)
	two := writeSum(t, root, "2-two", nil)
	w := watch(t, root, true)
	w.waitFor("01/1 Sums\n\nAdd.\n\nChecking ")
	w.waitFor("✗ 01/1 Sums: 1 of 2 tests passed")
	w.waitFor("\n0 of 2 passed\n" + keysLine)

	w.press("h")
	w.waitFor("Hint 1 of 3: A nudge\n\nRead it.")
	w.press("x\x1b[A") // a letter and an arrow do nothing
	w.press("l")
	w.waitFor("· 01/1  Sums  5 min  1 hint\n  · 01/2  Sums  5 min\n")

	save(t, one, testkit.SumSolvedInPlace)
	w.waitFor("✓ 01/1 Sums: passed")
	w.waitFor("What you now know: A sum needs both numbers.\n\n" +
		"Well done. To compare: ./scripts/workshop solution 01/1\nThe next: 01/2 Sums, 01-a/exercises/2-two/README.md\n")
	w.waitFor("\n1 of 2 passed\n" + keysLine)

	w.press("n")
	w.waitFor("Checking 01-a/exercises/2-two/exercise.go …")
	w.waitFor("✗ 01/2 Sums")
	w.waitFor("The task: 01-a/exercises/2-two/README.md\nA hint: ./scripts/workshop hint 01/2\n")
	w.waitFor(keysLine)

	save(t, two, testkit.SumSolvedInPlace)
	w.waitFor("✓ 01/2 Sums: passed")
	w.waitFor("No other exercise is left to do.")
	w.press("n")
	w.waitFor("No other exercise is left to do.")
	w.press("c")
	w.waitFor("✓ 01/2 Sums: passed")
}

// In a ticket, digits answer the question about the cause. After the right answer, the check runs.
func TestDigitsNameTheCause(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "1-sum", map[string]string{
		"exercise.go": strings.ReplaceAll(testkit.SumGiven, exercises.WorkMark, ""),
		"cause.yaml":  testkit.SumCause,
	})
	w := watch(t, root, true)
	w.waitFor("2. It forgets b.")
	w.waitFor("1 to 4 your answer")
	w.press("1")
	w.waitFor("That isn't the cause. It was wrong in summer, too.")
	w.press("9")
	w.waitFor("there is no answer 9")
	w.press("2")
	w.waitFor("Yes. The sum is always a.")
	w.waitFor("the sum is 1, want 2")
	w.waitFor(keysLine)
}

func TestWatchEnds(t *testing.T) {
	for sentence, end := range map[string]func(*watching){
		"with q":                       func(w *watching) { w.press("q") },
		"with Ctrl-C, which is a key":  func(w *watching) { w.press("\x03") },
		"with its terminal":            func(w *watching) { _ = w.keys.Close() },
		"with a signal, or the caller": func(w *watching) { w.end() },
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			writeSum(t, root, "1-one", map[string]string{"exercise.go": hangingSum})
			w := watch(t, root, true)
			w.waitFor("Checking ")
			end(w)
			if err := <-w.ended; err != nil {
				t.Error(err)
			}
			<-w.closed // the terminal was restored
		})
	}
}

func TestASaveCancelsTheRunningCheckEvenWithoutKeys(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "1-one", map[string]string{"exercise.go": hangingSum})
	w := watch(t, root, false)
	w.waitFor("Checking ")
	save(t, one, testkit.SumSolvedInPlace)
	w.waitFor("✓ 01/1 Sums: passed")
	w.waitFor("Waiting for the next save. Press Ctrl-C to stop.")
	if strings.Contains(w.screen, "✗") {
		t.Errorf("the cancelled check is on the screen:\n%s", w.screen)
	}
}

// Editors write other files, too.
func TestSaves(t *testing.T) {
	for sentence, test := range map[string]struct {
		event fsnotify.Event
		want  bool
	}{
		"a write":           {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Write}, true},
		"a new exercise.go": {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Create}, true},
		"another Go file":   {fsnotify.Event{Name: "/a/helpers.go", Op: fsnotify.Create}, true},
		"other permissions": {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Chmod}, false},
		"vim's swap file":   {fsnotify.Event{Name: "/a/.exercise.go.swp", Op: fsnotify.Write}, false},
		"a backup":          {fsnotify.Event{Name: "/a/exercise.go~", Op: fsnotify.Create}, false},
		"emacs' lock":       {fsnotify.Event{Name: "/a/.#exercise.go", Op: fsnotify.Create}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := isSave(test.event); got != test.want {
				t.Errorf("counts: %v, want %v", got, test.want)
			}
		})
	}
}
