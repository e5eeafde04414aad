package watch

// The saves that watch mode waits for.

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

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
// editors save by replacing the file.
func (s *saves) follow(e exercises.Exercise) error {
	if s.dir != "" {
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
