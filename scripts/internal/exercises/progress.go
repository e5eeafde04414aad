package exercises

// A learner's progress: .workshop/progress.json.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"example.com/operators/scripts/internal/problem"
)

type Record struct {
	Passing bool `json:"passing"`          // the result of the last check
	Hints   int  `json:"hints,omitempty"`  // that were shown
	Named   bool `json:"named,omitempty"`  // the ticket's cause
	Judged  bool `json:"judged,omitempty"` // the result of the last judgement of a capstone
}

type Progress struct {
	// Exercises has records by chapter and folder, such as 01-raw-watch/1-resume.
	Exercises map[string]Record `json:"exercises"`
}

func (p Progress) Of(e Exercise) Record { return p.Exercises[key(e)] }

func key(e Exercise) string { return e.Chapter.Name + "/" + e.Folder }

func progressPath(root string) string { return filepath.Join(root, ".workshop", "progress.json") }

func ReadProgress(root string) (Progress, error) {
	content, err := os.ReadFile(progressPath(root))
	if errors.Is(err, fs.ErrNotExist) {
		return Progress{Exercises: map[string]Record{}}, nil
	}
	if err != nil {
		return Progress{}, fmt.Errorf("read your progress: %w", err)
	}
	var progress Progress
	if err := json.Unmarshal(content, &progress); err != nil || progress.Exercises == nil {
		return Progress{}, problem.New("%s, the file with your progress, is damaged", progressPath(root)).
			ToDo("fix it, or move it to start over: mv .workshop/progress.json .workshop/progress-damaged.json").
			Because(err)
	}
	return progress, nil
}

// UpdateProgress changes an exercise's record. Several commands may do so at the same time.
func UpdateProgress(root string, e Exercise, update func(*Record)) error {
	return change(root, e, func(r *Record) error {
		update(r)
		return nil
	})
}

// RecordCheck records a check's result.
func RecordCheck(root string, e Exercise, passing bool) error {
	return UpdateProgress(root, e, func(r *Record) { r.Passing = passing })
}

// change calls work with an exercise's record, and saves the record unless work fails. It holds a lock
// on the progress and on the learner's files.
func change(root string, e Exercise, work func(*Record) error) error {
	if err := os.MkdirAll(filepath.Join(root, ".workshop"), 0o700); err != nil {
		return fmt.Errorf("write your progress: %w", err)
	}
	lock := flock.New(filepath.Join(root, ".workshop", "progress.lock"))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock your progress: %w", err)
	}
	defer lock.Unlock()
	progress, err := ReadProgress(root)
	if err != nil {
		return err
	}
	record := progress.Of(e)
	if err := work(&record); err != nil {
		return fmt.Errorf("%s: %w", e.Path(ExerciseFile), err)
	}
	if record == progress.Of(e) {
		return nil
	}
	progress.Exercises[key(e)] = record
	content, err := json.MarshalIndent(progress, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(progressPath(root), append(content, '\n')); err != nil {
		return fmt.Errorf("write your progress: %w", err)
	}
	return nil
}
