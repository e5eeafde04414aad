package exercises

// What was passed and which hints were shown: .workshop/progress.json.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"example.com/operators/scripts/internal/problem"
)

// progressVersion is that of the file's form. A field that is added makes it a new one: an older workshop would lose it.
const progressVersion = 1

// Record is what is known about one exercise.
type Record struct {
	// Passing is what the last check said.
	Passing bool `json:"passing"`
	// Passed is when it was passed for the first time, by something else than the course's solution.
	Passed *time.Time `json:"passed,omitempty"`
	// Hints is how many hints were shown.
	Hints int `json:"hints,omitempty"`
}

// Progress is what is known about all exercises.
type Progress struct {
	Version int `json:"version"`
	// Exercises has those that were ever touched, by chapter and folder, such as 01-raw-watch/1-resume.
	Exercises map[string]Record `json:"exercises"`
}

// Of returns what is known about an exercise.
func (p Progress) Of(e Exercise) Record { return p.Exercises[key(e)] }

func key(e Exercise) string { return e.Chapter.Name + "/" + e.Folder }

// Own are the patterns of what is a learner's own in .workshop: progress, under whatever name it was put aside, and the
// work that reset and catch-up have kept.
func Own() []string { return []string{"progress*.json", keptFolder} }

func progressPath(root string) string { return filepath.Join(root, ".workshop", "progress.json") }

// ReadProgress reads the progress in the repository at root. A file that can't be understood is an error, and is left alone.
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
	var head struct{ Version int }
	err = json.Unmarshal(content, &head)
	if err == nil && head.Version > progressVersion {
		return Progress{}, &problem.Problem{
			What: fmt.Sprintf("%s was written by a newer workshop (form %d; this one knows %d), and is left alone", path, head.Version, progressVersion),
			Mend: "use the newer one, or move the file away to begin anew: mv .workshop/progress.json .workshop/progress-newer.json",
		}
	}
	if err == nil {
		err = json.Unmarshal(content, &progress)
	}
	if err != nil || head.Version != progressVersion {
		return Progress{}, &problem.Problem{
			What: fmt.Sprintf("%s, the file with your progress, is damaged, and is left alone", path),
			Mend: "mend it, or move it away to begin anew: mv .workshop/progress.json .workshop/progress-damaged.json",
			Err:  err,
		}
	}
	if progress.Exercises == nil {
		progress.Exercises = map[string]Record{}
	}
	return progress, nil
}

// UpdateProgress changes what is known about one exercise. Several commands may do so at once: a watch, and a hint in another
// terminal.
func UpdateProgress(ctx context.Context, root string, e Exercise, change func(*Record)) error {
	path := progressPath(root)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write your progress: %w", err)
	}
	lock := flock.New(filepath.Join(filepath.Dir(path), "progress.lock"))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("write your progress: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	progress, err := ReadProgress(root)
	if err != nil {
		return err
	}
	record := progress.Of(e)
	before := record
	change(&record)
	if record == before {
		return nil
	}
	progress.Exercises[key(e)] = record
	content, err := json.MarshalIndent(progress, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(path, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("write your progress: %w", err)
	}
	return nil
}

// replaceFile writes a file so that there is always either the old or the new one, whole.
func replaceFile(path string, content []byte, mode os.FileMode) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	if _, err := file.Write(content); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
