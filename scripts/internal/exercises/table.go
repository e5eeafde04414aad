package exercises

// The table of all exercises: its JSON, and its text for people.

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/operators/scripts/internal/ui"
)

// Overview is what `workshop progress` shows.
type Overview struct {
	Chapters []ChapterOverview `json:"chapters"`
	Tally
}

type ChapterOverview struct {
	Chapter   string             `json:"chapter"`
	Exercises []ExerciseOverview `json:"exercises"`
	Tally
}

// Tally counts. Percent is the share of passed exercises, rounded down: it is 100 only if all are passed. An exercise that is
// caught up may be passed too: a check passes with the course's solution, although nobody has solved anything.
type Tally struct {
	Passed   int `json:"passed"`
	CaughtUp int `json:"caughtUp"`
	Total    int `json:"total"`
	Percent  int `json:"percent"`
}

type ExerciseOverview struct {
	Name        string     `json:"name"` // 01/1
	Path        string     `json:"path"` // from the repository's root
	Title       string     `json:"title"`
	Minutes     int        `json:"minutes"`
	Passed      bool       `json:"passed"`
	FirstPassed *time.Time `json:"firstPassed,omitempty"`
	Hints       int        `json:"hints"` // shown
	CaughtUp    bool       `json:"caughtUp"`
}

// NewOverview counts the exercises, which come chapter by chapter.
func NewOverview(exercises []Exercise, progress Progress) Overview {
	overview := Overview{Chapters: []ChapterOverview{}}
	for i, e := range exercises {
		if i == 0 || e.Chapter.Name != exercises[i-1].Chapter.Name {
			overview.Chapters = append(overview.Chapters, ChapterOverview{Chapter: e.Chapter.Name})
		}
		record := progress.Of(e)
		row := ExerciseOverview{
			Name: e.Name(), Path: e.Path(""), Title: e.Title, Minutes: e.Minutes,
			Passed: record.Passing, FirstPassed: record.Passed, Hints: record.Hints,
			CaughtUp: e.HasSolution() && (!record.Passing || record.Passed == nil),
		}
		chapter := &overview.Chapters[len(overview.Chapters)-1]
		chapter.Exercises = append(chapter.Exercises, row)
		chapter.add(row)
		overview.add(row)
	}
	return overview
}

func (t *Tally) add(e ExerciseOverview) {
	t.Total++
	if e.Passed {
		t.Passed++
	}
	if e.CaughtUp {
		t.CaughtUp++
	}
	t.Percent = 100 * t.Passed / t.Total
}

func (t Tally) String() string {
	counted := fmt.Sprintf("%d of %d passed (%d %%)", t.Passed, t.Total, t.Percent)
	if t.CaughtUp > 0 {
		counted += fmt.Sprintf(", %d caught up, not solved", t.CaughtUp)
	}
	return counted
}

func (o Overview) Text(colours ui.Palette) string {
	if o.Total == 0 {
		return "There are no exercises yet.\n"
	}
	var page strings.Builder
	for _, chapter := range o.Chapters {
		fmt.Fprintf(&page, "%s: %s\n", colours.Bold.Sprint(chapter.Chapter), chapter.Tally)
		columns := tabwriter.NewWriter(&page, 0, 0, 2, ' ', 0)
		for _, e := range chapter.Exercises {
			fmt.Fprintln(columns, e.row(colours))
		}
		_ = columns.Flush() // to memory
		page.WriteString("\n")
	}
	fmt.Fprintf(&page, "In all: %s\n", o.Tally)
	return emptyColumns.ReplaceAllString(page.String(), "")
}

var emptyColumns = regexp.MustCompile(`(?m) +$`)

// row is an exercise's row, its columns separated by tabs.
func (e ExerciseOverview) row(colours ui.Palette) string {
	mark := colours.Grey.Sprint("·") // the marks' colour codes are equally long, so the columns stay aligned
	minutes, hints, caughtUp := "", "", ""
	if e.Passed {
		mark = colours.Green.Sprint("✓")
	}
	if e.CaughtUp {
		mark, caughtUp = colours.Cyan.Sprint("»"), "caught up"
	}
	if e.Minutes > 0 {
		minutes = fmt.Sprintf("%d min", e.Minutes)
	}
	if e.Hints > 0 {
		hints = ui.Plural(e.Hints, "hint")
	}
	return fmt.Sprintf("  %s %s\t%s\t%s\t%s\t%s", mark, e.Name, e.Title, minutes, hints, caughtUp)
}
