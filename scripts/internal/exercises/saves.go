package exercises

// Noticing that a learner has saved.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/problem"
)

// settle is how long nothing may happen to the files before they count as saved: editors write, rename and delete for a
// while.
const settle = 100 * time.Millisecond

// saves watches one exercise at a time.
type saves struct {
	watcher *fsnotify.Watcher
	dir     string
	// quiet fires when the files have changed and then rested.
	quiet *time.Timer
}

func newSaves() (*saves, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, &problem.Problem{
			What: "this system can't tell when a file is saved",
			Mend: `end other programs that watch files, or do without: "./scripts/workshop check" after each save`,
			Err:  err,
		}
	}
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	return &saves{watcher: watcher, quiet: quiet}, nil
}

// follow watches an exercise's folder from now on, and no other. It is the folder that is watched, since many editors save by
// putting another file in a file's place. Following the same one again mends a watch on a folder that was made anew.
func (s *saves) follow(e Exercise) error {
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
		s.quiet.Reset(settle)
	}
}

// isSource tells whether go test would look at a file: not at what editors leave beside it (.exercise.go.swp, exercise.go~,
// #exercise.go#, .#exercise.go, 4913).
func isSource(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}

// contents is all that a check depends on in an exercise's folder, and false while there is no exercise.go, as in the middle
// of a save.
func contents(e Exercise) (string, bool) {
	if _, err := os.Stat(e.File(exerciseFile)); err != nil {
		return "", false
	}
	files, _ := filepath.Glob(filepath.Join(e.Dir(), "*.go"))
	var all strings.Builder
	for _, file := range files {
		if content, err := os.ReadFile(file); err == nil && isSource(file) {
			fmt.Fprintf(&all, "%s %d\n%s", filepath.Base(file), len(content), content)
		}
	}
	return all.String(), true
}

func (s *saves) close() { _ = s.watcher.Close() }
