package exercises

// Capstones: exercises with a program that the learner writes, most often from an empty file. After
// its tests, the judge and the contract hold it to the course's promises.

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/problem"
)

// JudgeFile tells the judge what a capstone's program manages. Exercises without it aren't
// capstones.
const JudgeFile = "judge.yaml"

func (e Exercise) IsCapstone() bool { return exists(e.File(JudgeFile)) }

// HasProgram reports whether the exercise has a program of its own, which "workshop run" runs: a
// ticket's, or a capstone's.
func (e Exercise) HasProgram() bool { return e.IsTicket() || e.IsCapstone() }

// HasOwnKind reports whether the exercise's program manages a kind of its own, and not the chapter's.
func (e Exercise) HasOwnKind() bool { return exists(filepath.Join(e.Dir(), "manifests", "crd.yaml")) }

// FindCapstone is FindOne for commands that judge a capstone.
func FindCapstone(root, name string) (Exercise, error) {
	e, err := FindOne(root, name)
	if err == nil && !e.IsCapstone() {
		return e, problem.New("exercise %s can't be judged, because it has no judge.yaml", e.Name()).
			ToDo("name an exercise with a program that is judged, such as 03/9 or 05/7")
	}
	return e, err
}

// RecordJudged records code, the hash of a program that keeps every promise. For any other program,
// code is "".
func RecordJudged(ctx context.Context, root string, e Exercise, code string) error {
	return UpdateProgress(ctx, root, e, func(r *Record) { r.Judged = code })
}

// IsJudged reports whether the judge has passed the program and its code hasn't changed since.
func (r Record) IsJudged(e Exercise) bool { return r.Judged != "" && r.Judged == e.Code() }

// Code is a hash of the learner's program: all of the exercise's Go files, without its tests and
// the course's solution.
func (e Exercise) Code() string {
	hash := sha256.New()
	files, _ := filepath.Glob(e.File("*.go")) // the pattern is valid
	for _, file := range files {
		if name := filepath.Base(file); name != SolutionFile && !strings.HasSuffix(name, "_test.go") {
			content, _ := os.ReadFile(file) // a file that can't be read doesn't compile either
			fmt.Fprintf(hash, "%s %d\n%s", name, len(content), content)
		}
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}
