package watch

// Noticing that a learner has saved.

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

// debounce is how long the files must rest before they count as saved: editors write, rename and delete for a while.
const debounce = 100 * time.Millisecond

// saves watches one exercise at a time.
type saves struct {
	watcher *fsnotify.Watcher
	dir     string
	quiet   *time.Timer // fires when the files have changed and then rested
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

// follow watches an exercise from now on, and no other. It watches the folder, because many editors save by replacing the
// file. Following the same exercise again repairs the watch after its folder was replaced.
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

// take looks at one event, and waits for quiet if it may be part of a save.
func (s *saves) take(e fsnotify.Event) {
	if isSource(e.Name) && e.Op != fsnotify.Chmod {
		s.quiet.Reset(debounce)
	}
}

// isSource reports whether go test would look at a file, which it doesn't at what editors leave beside it (.exercise.go.swp,
// exercise.go~, #exercise.go#, .#exercise.go, 4913).
func isSource(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}
