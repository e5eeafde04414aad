package verdict

// The place that an editor opens.

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/gotest"
)

var compilerPlace = regexp.MustCompile(`(?m)^(\S+\.go:\d+):`)

// EditPlace returns where to continue, as path:line from the repository's root: at the compiler's
// first error, or where the first failing test points to. Without either, it is the first place
// that is marked as work, or the file's first line.
func (v Verdict) EditPlace() string {
	if match := compilerPlace.FindStringSubmatch(v.Compiler); match != nil {
		return match[1]
	}
	for _, t := range v.Tests {
		if t.State == gotest.Failed && t.Place != "" {
			return t.Place
		}
	}
	line := 1
	content, _ := os.ReadFile(v.Exercise.File(exercises.ExerciseFile)) // the editor reports a missing file
	if before, _, found := strings.Cut(string(content), exercises.WorkMark); found {
		line += strings.Count(before, "\n")
	}
	return fmt.Sprintf("%s:%d", v.Exercise.Path(exercises.ExerciseFile), line)
}
