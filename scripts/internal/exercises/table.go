package exercises

// The table of all exercises, for people and as JSON.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

// ChapterOverview is one chapter of it.
type ChapterOverview struct {
	Chapter   string             `json:"chapter"`
	Exercises []ExerciseOverview `json:"exercises"`
	Tally
}

// Tally counts. Percent is that of those passed, rounded down: it is 100 only if all are. Those caught up may be passed, too: a check
// passes with the course's solution, but nobody has solved anything.
type Tally struct {
	Passed   int `json:"passed"`
	CaughtUp int `json:"caughtUp"`
	Total    int `json:"total"`
	Percent  int `json:"percent"`
}

// ExerciseOverview is one exercise of it.
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
		caughtUp := e.HasSolution() && (!record.Passing || record.Passed == nil)
		chapter := &overview.Chapters[len(overview.Chapters)-1]
		chapter.Exercises = append(chapter.Exercises, ExerciseOverview{
			Name: e.Name(), Path: e.Path(""), Title: e.Title, Minutes: e.Minutes,
			Passed: record.Passing, FirstPassed: record.Passed, Hints: record.Hints, CaughtUp: caughtUp,
		})
		chapter.add(record.Passing, caughtUp)
		overview.add(record.Passing, caughtUp)
	}
	return overview
}

func (t *Tally) add(passed, caughtUp bool) {
	t.Total++
	if passed {
		t.Passed++
	}
	if caughtUp {
		t.CaughtUp++
	}
	t.Percent = 100 * t.Passed / t.Total
}

// JSON writes the overview for other programs.
func (o Overview) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(o)
}

// Print writes the overview for people.
func (o Overview) Print(w io.Writer, colour bool) error {
	p := newPrinter(colour)
	if o.Total == 0 {
		p.say("There are no exercises yet.")
		return p.flush(w)
	}
	for _, chapter := range o.Chapters {
		p.say("%s: %s", p.Bold.Sprint(chapter.Chapter), chapter.Tally)
		p.table(chapter.Exercises)
		p.say("")
	}
	p.say("In all: %s", o.Tally)
	return p.flush(w)
}

func (t Tally) String() string {
	counted := fmt.Sprintf("%d of %d passed (%d %%)", t.Passed, t.Total, t.Percent)
	if t.CaughtUp > 0 {
		counted += fmt.Sprintf(", %d caught up, not solved", t.CaughtUp)
	}
	return counted
}

func (p *printer) table(exercises []ExerciseOverview) {
	var columns bytes.Buffer
	table := tabwriter.NewWriter(&columns, 0, 0, 2, ' ', 0)
	for _, e := range exercises {
		// The colours' codes are of one length, which keeps the columns.
		mark := p.Grey.Sprint("·")
		switch {
		case e.CaughtUp:
			mark = p.Cyan.Sprint("»")
		case e.Passed:
			mark = p.Green.Sprint("✓")
		}
		minutes, hints, caughtUp := "", "", ""
		if e.Minutes > 0 {
			minutes = fmt.Sprintf("%d min", e.Minutes)
		}
		if e.Hints > 0 {
			hints = ui.Plural(e.Hints, "hint")
		}
		if e.CaughtUp {
			caughtUp = "caught up"
		}
		fmt.Fprintf(table, "  %s %s\t%s\t%s\t%s\t%s\n", mark, e.Name, e.Title, minutes, hints, caughtUp)
	}
	_ = table.Flush() // to memory
	for line := range strings.Lines(columns.String()) {
		p.say("%s", strings.TrimRight(line, " \n"))
	}
}
