package watch

// Watch mode, with a pipe as keyboard and a buffer as screen. The tests wait for text on the
// screen, never for a time.

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// screen collects the output, and lets a test wait for it.
type screen struct {
	t       *testing.T
	mu      sync.Mutex
	written sync.Cond
	text    string
	seen    int // the end of the text that the test has waited for
	late    bool
}

// tooLong is the timeout of a test.
const tooLong = time.Minute

func newScreen(t *testing.T) *screen {
	s := &screen{t: t}
	s.written.L = &s.mu
	timer := time.AfterFunc(tooLong, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.late = true
		s.written.Broadcast()
	})
	t.Cleanup(func() { timer.Stop() })
	return s
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += string(p)
	s.written.Broadcast()
	return len(p), nil
}

// waitFor waits for a text after the one that it has waited for before.
func (s *screen) waitFor(text string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if i := strings.Index(s.text[s.seen:], text); i >= 0 {
			s.seen += i + len(text)
			return
		}
		if s.late {
			s.t.Fatalf("timeout waiting for %q after\n%s\ngot\n%s", text, s.text[:s.seen], s.text[s.seen:])
		}
		s.written.Wait()
	}
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// watching is a Watch that runs.
type watching struct {
	*screen
	keys   *io.PipeWriter
	end    context.CancelFunc
	ended  chan error
	closed chan struct{} // when the terminal was restored
}

// writeSum writes exercisetest's exercise, and returns it.
func writeSum(t *testing.T, root, chapter, name string, changes map[string]string) exercises.Exercise {
	t.Helper()
	exercisetest.Write(t, root, chapter, name, changes)
	e, err := exercises.FindOne(root, chapter+"/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func watch(t *testing.T, root string, checker verdict.Checker, withKeys bool) *watching {
	t.Helper()
	return watchOn(t, root, Watch{Checker: checker}, withKeys, 0)
}

// watchOn has a screen of so many rows. Without rows, the screen can't be cleared.
func watchOn(t *testing.T, root string, options Watch, withKeys bool, screenRows int) *watching {
	t.Helper()
	all, err := exercises.All(root)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w := &watching{screen: newScreen(t), end: cancel, ended: make(chan error, 1), closed: make(chan struct{})}
	terminal := Terminal{Out: w.screen, Colours: ui.NewPalette(false), Close: func() { close(w.closed) }}
	if withKeys {
		terminal.Keys, w.keys = io.Pipe()
	}
	if screenRows > 0 {
		terminal.Clear, terminal.Rows = true, func() int { return screenRows }
	}
	options.Checker.Root = root
	options.Terminal, options.Exercises, options.Start = terminal, all, all[0]
	go func() {
		defer func() {
			if p := recover(); p != nil {
				w.ended <- errPanicked
			}
		}()
		w.ended <- options.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-w.closed
	})
	return w
}

var (
	noChecker verdict.Checker
	noColours = ui.NewPalette(false)
)

var errPanicked = context.DeadlineExceeded // any error will do

func (w *watching) press(key string) {
	w.t.Helper()
	if _, err := w.keys.Write([]byte(key)); err != nil {
		w.t.Fatal(err)
	}
}

// save replaces exercise.go atomically, as many editors do.
func save(t *testing.T, e exercises.Exercise, content string) {
	t.Helper()
	testkit.Write(t, e.Dir(), map[string]string{"4913": content})
	if err := os.Rename(e.File("4913"), e.File("exercise.go")); err != nil {
		t.Fatal(err)
	}
}

const keysLine = "h hint   p your guess   l list   n next   c check again   q quit\n"

func TestWatchFromAFailureToTheNextExercise(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", nil)
	two := writeSum(t, root, "01-a", "2-two", nil)
	w := watch(t, root, verdict.Checker{}, true)
	w.waitFor("01/1 Sums\n\nAdd.\n\nChecking ")
	w.waitFor("✗ 01/1 Sums: 1 of 2 tests passed")
	w.waitFor("\n[░░░░░░░░░░░░░░] 0/2 passed\n" + keysLine)

	w.press("h")
	w.waitFor("Hint 1 of 3: A nudge\n\nRead it.")
	w.press("x\x1b[A") // a letter and an arrow do nothing
	w.press("l")
	w.waitFor("· 01/1  Sums  5 min  1 hint\n  · 01/2  Sums  5 min\n")

	// Save like vim: rename the old file, write the new one, and delete the old one. There are also
	// files that a killed editor has left.
	testkit.Write(t, one.Dir(), map[string]string{".exercise.go.swp": "binary", ".#exercise.go": "nothing to compile", "exercise.go~": "nothing"})
	if err := os.Rename(one.File("exercise.go"), one.File("exercise.go~")); err != nil {
		t.Fatal(err)
	}
	save(t, one, exercisetest.SolvedInPlace)
	if err := os.Remove(one.File("exercise.go~")); err != nil {
		t.Fatal(err)
	}
	w.waitFor("✓ 01/1 Sums: passed")
	w.waitFor("What you now know: A sum needs both numbers.\n\n" +
		"Well done. To compare: ./scripts/workshop solution 01/1\nThe next: 01/2 Sums, 01-a/exercises/2-two/README.md\n")
	w.waitFor("\n[███████░░░░░░░] 1/2 passed\n" + keysLine)

	w.press("n")
	w.waitFor("Checking 01-a/exercises/2-two/exercise.go …")
	w.waitFor("✗ 01/2 Sums")
	w.waitFor("The task: 01-a/exercises/2-two/README.md\nA hint: ./scripts/workshop hint 01/2\n")
	w.waitFor(keysLine)

	save(t, two, exercisetest.SolvedInPlace)
	w.waitFor("✓ 01/2 Sums: passed")
	w.waitFor("No other exercise is left to do.")
	w.waitFor(keysLine)
	w.press("n")
	w.waitFor("No other exercise is left to do.")
	w.press("c")
	w.waitFor("✓ 01/2 Sums: passed")
	w.waitFor(keysLine)
	w.press("q")
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(w.String(), "Checking "); n != 5 {
		t.Errorf("%d checks, want 5: as it began, a save, the next one, a save, c:\n%s", n, w)
	}
}

func TestWatchEnds(t *testing.T) {
	for sentence, end := range map[string]func(*watching){
		"with q":                       func(w *watching) { w.press("q") },
		"with Ctrl-C, which is a key":  func(w *watching) { w.press("\x03") },
		"with Ctrl-D":                  func(w *watching) { w.press("\x04") },
		"with its terminal":            func(w *watching) { _ = w.keys.Close() },
		"with a signal, or the caller": func(w *watching) { w.end() },
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			writeSum(t, root, "01-a", "1-one", map[string]string{"exercise.go": hangingSum})
			w := watch(t, root, verdict.Checker{}, true)
			w.waitFor("Checking ") // which would take long
			end(w)
			if err := <-w.ended; err != nil {
				t.Error(err)
			}
			<-w.closed // the terminal was restored
		})
	}
}

func TestWatchWithoutATerminal(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", nil)
	w := watch(t, root, verdict.Checker{}, false)
	w.waitFor("✗ 01/1 Sums")
	w.waitFor("Waiting for the next save. Press Ctrl-C to stop.")
	save(t, one, exercisetest.SolvedInPlace)
	w.waitFor("✓ 01/1 Sums: passed")
	w.end()
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
}

func TestASaveCancelsTheRunningCheck(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", map[string]string{"exercise.go": hangingSum})
	w := watch(t, root, verdict.Checker{Limit: 10 * tooLong}, true)
	w.waitFor("Checking ")
	save(t, one, exercisetest.SolvedInPlace)
	w.waitFor("✓ 01/1 Sums: passed")
	if strings.Contains(w.String(), "✗") {
		t.Errorf("the cancelled check is on the screen:\n%s", w)
	}
}

func TestAPanicRestoresTheTerminal(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "01-a", "1-one", nil)
	w := watch(t, root, verdict.Checker{Env: func(context.Context) []string { panic("a bug") }}, true)
	<-w.closed
	if err := <-w.ended; err != errPanicked {
		t.Errorf("ended with %v, want a panic", err)
	}
}

func TestInvalidProgressDoesNotEndTheWatch(t *testing.T) {
	root := t.TempDir()
	writeSum(t, root, "01-a", "1-one", nil)
	testkit.Write(t, root, map[string]string{".workshop/progress.json": "damaged"})
	w := watch(t, root, verdict.Checker{}, true)
	w.waitFor("✗ 01/1 Sums: 1 of 2 tests passed")
	w.waitFor("is damaged")
	for _, key := range []string{"h", "l", "n"} {
		w.press(key)
		w.waitFor("is damaged")
	}
}

func TestSaves(t *testing.T) {
	for sentence, test := range map[string]struct {
		event fsnotify.Event
		want  bool
	}{
		"a write":                 {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Write}, true},
		"a new exercise.go":       {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Create}, true},
		"another Go file":         {fsnotify.Event{Name: "/a/helpers.go", Op: fsnotify.Create}, true},
		"other permissions":       {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Chmod}, false},
		"vim's swap file":         {fsnotify.Event{Name: "/a/.exercise.go.swp", Op: fsnotify.Write}, false},
		"vim's trial file":        {fsnotify.Event{Name: "/a/4913", Op: fsnotify.Create}, false},
		"a backup":                {fsnotify.Event{Name: "/a/exercise.go~", Op: fsnotify.Create}, false},
		"emacs' lock":             {fsnotify.Event{Name: "/a/.#exercise.go", Op: fsnotify.Create}, false},
		"emacs' recovery":         {fsnotify.Event{Name: "/a/#exercise.go#", Op: fsnotify.Write}, false},
		"an IDE's temporary file": {fsnotify.Event{Name: "/a/exercise.go___jb_tmp___", Op: fsnotify.Write}, false},
		"a README":                {fsnotify.Event{Name: "/a/README.md", Op: fsnotify.Write}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, err := newSaves()
			if err != nil {
				t.Fatal(err)
			}
			defer s.watcher.Close()
			s.take(test.event)
			if got := s.quiet.Stop(); got != test.want {
				t.Errorf("counts: %v, want %v", got, test.want)
			}
		})
	}
}

const hangingSum = "//go:build !solution\n\npackage sum\n\nfunc Add(a, b int) int { select {} }\n"
