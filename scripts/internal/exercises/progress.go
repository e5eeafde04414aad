package exercises

// What was passed and which hints were shown: .workshop/progress.json.

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

// progressVersion is the version of the file's format. A new field needs a new one: an older workshop would lose it.
const progressVersion = 1

type Record struct {
	// Passing is what the last check said.
	Passing bool `json:"passing"`
	// Passed is when it was passed for the first time, by something else than the course's solution.
	Passed *time.Time `json:"passed,omitempty"`
	// Hints is how many hints were shown.
	Hints int `json:"hints,omitempty"`
}

type Progress struct {
	Version int `json:"version"`
	// Exercises has those that were ever touched, by chapter and folder, such as 01-raw-watch/1-resume.
	Exercises map[string]Record `json:"exercises"`
}

func (p Progress) Of(e Exercise) Record { return p.Exercises[key(e)] }

func key(e Exercise) string { return e.Chapter.Name + "/" + e.Folder }

func progressPath(root string) string { return filepath.Join(root, ".workshop", "progress.json") }

// ReadProgress reads the progress in the repository at root. A file that it can't understand is an error, and stays as it is.
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
	case err != nil || progress.Version != progressVersion:
		return Progress{}, problem.New("%s, the file with your progress, is damaged", path).
			ToDo("fix it, or move it to start over: mv .workshop/progress.json .workshop/progress-damaged.json").
			Because(err)
	case progress.Exercises == nil:
		progress.Exercises = map[string]Record{}
	}
	return progress, nil
}

// UpdateProgress changes what is known about one exercise. Several commands may do so at once: a watch, and a hint in another
// terminal.
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

// update calls work, and saves the progress even if work fails. A lock keeps other commands from
// changing the progress or a learner's files meanwhile.
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

// RecordCheck remembers the result of a check. Only with a file of their own, not with the course's solution, has the learner
// passed.
func RecordCheck(ctx context.Context, root string, e Exercise, passing bool) error {
	return UpdateProgress(ctx, root, e, func(r *Record) {
		r.Passing = passing
		if passing && r.Passed == nil && !e.HasSolution() {
			now := time.Now().UTC().Truncate(time.Second)
			r.Passed = &now
		}
	})
}
