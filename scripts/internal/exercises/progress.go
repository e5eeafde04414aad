package exercises

// A learner's progress: .workshop/progress.json, and a table of it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gofrs/flock"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// progressVersion increases with each new field, because an older workshop would lose the field.
const progressVersion = 1

type Record struct {
	Passing bool       `json:"passing"`          // the result of the last check
	Passed  *time.Time `json:"passed,omitempty"` // for the first time, without the course's solution
	Hints   int        `json:"hints,omitempty"`  // that were shown
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
	case err != nil || progress.Version != progressVersion:
		return Progress{}, problem.New("%s, the file with your progress, is damaged", path).
			ToDo("fix it, or move it to start over: mv .workshop/progress.json .workshop/progress-damaged.json").
			Because(err)
	case progress.Exercises == nil:
		progress.Exercises = map[string]Record{}
	}
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

// tally counts exercises. One may be both passed and caught up, because the course's solution
// passes the check.
type tally struct{ passed, caughtUp, total int }

func (t tally) String() string {
	percent := 100 * t.passed / t.total // rounded down: it is 100 only if all are passed
	counted := fmt.Sprintf("%d of %d passed (%d %%)", t.passed, t.total, percent)
	if t.caughtUp > 0 {
		counted += fmt.Sprintf(", %d caught up, not solved", t.caughtUp)
	}
	return counted
}

// Table shows which exercises are passed. They have to be sorted by chapter.
func Table(exercises []Exercise, progress Progress, colours ui.Palette) string {
	if len(exercises) == 0 {
		return "There are no exercises yet.\n"
	}
	var page, rows strings.Builder
	columns := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	var inAll, inChapter tally
	for i, e := range exercises {
		record := progress.Of(e)
		caughtUp := e.HasSolution() && (!record.Passing || record.Passed == nil)
		for _, t := range []*tally{&inAll, &inChapter} {
			t.total++
			if record.Passing {
				t.passed++
			}
			if caughtUp {
				t.caughtUp++
			}
		}
		fmt.Fprintln(columns, row(e, record, caughtUp, colours))
		if i+1 == len(exercises) || exercises[i+1].Chapter != e.Chapter {
			_ = columns.Flush() // to memory
			fmt.Fprintf(&page, "%s: %s\n%s\n", colours.Bold.Sprint(e.Chapter.Name), inChapter, &rows)
			rows.Reset()
			inChapter = tally{}
		}
	}
	fmt.Fprintf(&page, "In all: %s\n", inAll)
	return emptyColumns.ReplaceAllString(page.String(), "")
}

var emptyColumns = regexp.MustCompile(`(?m) +$`)

func row(e Exercise, record Record, caughtUp bool, colours ui.Palette) string {
	mark := colours.Grey.Sprint("·") // the marks' colour codes are equally long, so the columns stay aligned
	minutes, hints, note := "", "", ""
	if record.Passing {
		mark = colours.Green.Sprint("✓")
	}
	if caughtUp {
		mark, note = colours.Cyan.Sprint("»"), "caught up"
	}
	if e.Minutes > 0 {
		minutes = fmt.Sprintf("%d min", e.Minutes)
	}
	if record.Hints > 0 {
		hints = ui.Plural(record.Hints, "hint")
	}
	return fmt.Sprintf("  %s %s\t%s\t%s\t%s\t%s", mark, e.Name(), e.Title, minutes, hints, note)
}
