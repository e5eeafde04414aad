package watch

// The terminal, and the saves that watch mode waits for.

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/term"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

type Terminal struct {
	Out     io.Writer
	Keys    io.Reader // nil: there are none
	Colours ui.Palette
	Clear   bool       // the screen may be cleared
	Rows    func() int // the screen's height; only called if Clear
	Close   func()     // restores the terminal; may be called more than once
}

// OpenTerminal puts the terminal into raw mode until Close, if in and out are a terminal: keys need
// no Enter and aren't shown, and Ctrl-C is a key.
func OpenTerminal(in, out *os.File, colours ui.Palette) (Terminal, error) {
	t := Terminal{Out: out, Colours: colours, Close: func() {}}
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return t, nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return t, err
	}
	t.Keys, t.Out = in, rawWriter{out}
	t.Clear = os.Getenv("TERM") != "dumb"
	t.Rows = func() int { _, rows, _ := term.GetSize(int(out.Fd())); return rows }
	t.Close = func() { _ = term.Restore(int(in.Fd()), before) }
	return t, nil
}

// rawWriter adds carriage returns, which the terminal doesn't do in raw mode.
type rawWriter struct{ io.Writer }

func (w rawWriter) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// debounce is the time without a change after which a file is saved. Some editors write, rename and
// delete several files.
const debounce = 100 * time.Millisecond

// saves watches one exercise at a time.
type saves struct {
	watcher *fsnotify.Watcher
	dir     string
	quiet   *time.Timer // fires after the last change of a save
}

func newSaves() (*saves, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, problem.New("this system doesn't report when a file is saved").
			ToDo(`end other programs that watch files, or run "./scripts/workshop check" after each save`).
			Because(err)
	}
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	return &saves{watcher: watcher, quiet: quiet}, nil
}

// follow watches one exercise, instead of the one before. It watches the folder, because many
// editors save by replacing the file. A second call for the same exercise works after its folder
// was replaced.
func (s *saves) follow(e exercises.Exercise) error {
	if s.dir != "" && s.dir != e.Dir() {
		_ = s.watcher.Remove(s.dir) // it may be gone
	}
	s.dir = e.Dir()
	if err := s.watcher.Add(s.dir); err != nil {
		return fmt.Errorf("watch %s: %w", e.Path(""), err)
	}
	return nil
}

// take restarts the timer if the event may be part of a save.
func (s *saves) take(e fsnotify.Event) {
	if isSource(e.Name) && e.Op != fsnotify.Chmod {
		s.quiet.Reset(debounce)
	}
}

// isSource reports whether go test would read a file. Editors write others, such as #a.go#.
func isSource(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}
