package watch

// The saves that watch mode waits for.

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/problem"
)

// debounce is the time without a change after which a file is saved. Some editors write, rename and
// delete several files.
const debounce = 100 * time.Millisecond

func newWatcher() (*fsnotify.Watcher, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, problem.New("this system doesn't report when a file is saved").
			ToDo(`end other programs that watch files, or run "./scripts/workshop check" after each save`).
			Because(err)
	}
	return watcher, nil
}

// isSave reports whether an event may be part of a save of a file that go test would read. Editors
// write others, such as #a.go#.
func isSave(e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	return e.Op != fsnotify.Chmod &&
		strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}
