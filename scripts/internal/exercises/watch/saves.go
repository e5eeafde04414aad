package watch

// Noticing that a learner has saved: by looking again and again, since not every system tells of saves (WSL2 doesn't of those in
// Windows' folders).

import (
	"fmt"
	"os"
	"strings"
	"time"

	"example.com/operators/scripts/internal/exercises"
)

// lookEvery is also how long the files must rest before they count as saved: editors write, rename and delete for a while.
const lookEvery = 100 * time.Millisecond

// saves watches one exercise at a time.
type saves struct {
	exercise exercises.Exercise
	seen     string // at the last look
	changed  bool   // and not saved yet
}

// follow watches an exercise from now on, and no other.
func (s *saves) follow(e exercises.Exercise) { *s = saves{exercise: e, seen: look(e)} }

// saved looks again, and reports whether the files have changed and then rested. While there is no exercise.go, the save goes on.
func (s *saves) saved() bool {
	before := s.seen
	s.seen = look(s.exercise)
	if s.seen != before {
		s.changed = true
		return false
	}
	_, err := os.Stat(s.exercise.File(exercises.ExerciseFile))
	saved := s.changed && err == nil
	s.changed = s.changed && !saved
	return saved
}

// look says of what size and time the files are that go test looks at. Among them is nothing that editors leave beside them
// (.exercise.go.swp, exercise.go~, #exercise.go#, .#exercise.go, 4913).
func look(e exercises.Exercise) string {
	var seen strings.Builder
	entries, _ := os.ReadDir(e.Dir()) // there is none while the folder is replaced
	for _, entry := range entries {
		name := entry.Name()
		info, err := entry.Info()
		if err == nil && strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_") {
			fmt.Fprintln(&seen, name, info.Size(), info.ModTime())
		}
	}
	return seen.String()
}
