package exercises

// A learner's progress: .workshop/progress.json.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"example.com/operators/scripts/internal/problem"
)

// progressVersion increases with each new field, because an older workshop would lose the field.
const progressVersion = 4

type Record struct {
	Passing bool       `json:"passing"`              // the result of the last check
	Passed  *time.Time `json:"passed,omitempty"`     // for the first time, without the course's solution
	Hints   int        `json:"hints,omitempty"`      // that were shown
	Named   bool       `json:"named,omitempty"`      // the ticket's cause
	Guess   string     `json:"guess,omitempty"`      // at the answer to the exercise's question
	Judged  string     `json:"judgedCode,omitempty"` // the hash of the capstone code that passed
}

type Progress struct {
	Version int `json:"version"`
	// Exercises has records by chapter and folder, such as 01-raw-watch/1-resume.
	Exercises map[string]Record `json:"exercises"`
}

func (p Progress) Of(e Exercise) Record { return p.Exercises[key(e)] }

func key(e Exercise) string { return e.Chapter.Name + "/" + e.Folder }

func progressPath(root string) string { return filepath.Join(root, ".workshop", "progress.json") }

func ReadProgress(root string) (Progress, error) {
	progress := Progress{Version: progressVersion, Exercises: map[string]Record{}}
	path := progressPath(root)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return progress, nil
	}
	if err != nil {
		return progress, fmt.Errorf("read your progress: %w", err)
	}
	progress.Version = 0
	err = json.Unmarshal(content, &progress)
	switch {
	case progress.Version > progressVersion:
		return Progress{}, problem.New("%s was written by a newer workshop (version %d; this one knows %d)", path, progress.Version, progressVersion).
			ToDo("use the newer one, or move the file to start over: mv .workshop/progress.json .workshop/progress-newer.json")
	case err != nil || progress.Version < 1:
		return Progress{}, problem.New("%s, the file with your progress, is damaged", path).
			ToDo("fix it, or move it to start over: mv .workshop/progress.json .workshop/progress-damaged.json").
			Because(err)
	case progress.Exercises == nil:
		progress.Exercises = map[string]Record{}
	}
	progress.Version = progressVersion // an older file only lacks fields
	return progress, nil
}

// UpdateProgress changes an exercise's record. Several commands may do so at once.
func UpdateProgress(ctx context.Context, root string, e Exercise, change func(*Record)) error {
	return update(ctx, root, func(progress Progress) error {
		progress.change(e, change)
		return nil
	})
}

func (p Progress) change(e Exercise, change func(*Record)) {
	record := p.Of(e)
	change(&record)
	if record != p.Of(e) {
		p.Exercises[key(e)] = record
	}
}

// update calls work, and saves the progress even if work fails. It holds a lock on the progress and
// on the learner's files.
func update(ctx context.Context, root string, work func(Progress) error) error {
	if err := os.MkdirAll(filepath.Join(root, ".workshop"), 0o700); err != nil {
		return fmt.Errorf("write your progress: %w", err)
	}
	lock := flock.New(filepath.Join(root, ".workshop", "progress.lock"))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("wait for another command: %w", err)
	}
	defer lock.Unlock()
	progress, err := ReadProgress(root)
	if err != nil {
		return err
	}
	before := maps.Clone(progress.Exercises)
	err = work(progress)
	if maps.Equal(before, progress.Exercises) {
		return err
	}
	content, _ := json.MarshalIndent(progress, "", "  ") // all fields can be encoded
	if writeErr := replaceFile(progressPath(root), append(content, '\n'), 0o600); writeErr != nil {
		return errors.Join(err, fmt.Errorf("write your progress: %w", writeErr))
	}
	return err
}

// RecordCheck records a check's result. The course's solution doesn't count as passed.
func RecordCheck(ctx context.Context, root string, e Exercise, passing bool) error {
	return UpdateProgress(ctx, root, e, func(r *Record) {
		r.Passing = passing
		if passing && r.Passed == nil && !e.HasSolution() {
			now := time.Now().UTC().Truncate(time.Second)
			r.Passed = &now
		}
	})
}
