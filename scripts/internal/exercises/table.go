package exercises

// The progress as a table, as rows and as a bar.

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"

	"example.com/operators/scripts/internal/ui"
)

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

// Bar shows how many of the exercises are passed, such as [███░░░] 14/28 passed.
func Bar(exercises []Exercise, progress Progress) string {
	passed := 0
	for _, e := range exercises {
		if progress.Of(e).Passing {
			passed++
		}
	}
	full := barWidth * passed / max(1, len(exercises)) // rounded down, as in tally
	return fmt.Sprintf("[%s%s] %d/%d passed", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), passed, len(exercises))
}

const barWidth = 14

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
		caughtUp := isCaughtUp(e, record)
		for _, t := range []*tally{&inAll, &inChapter} {
			t.total++
			if record.Passing {
				t.passed++
			}
			if caughtUp {
				t.caughtUp++
			}
		}
		fmt.Fprintln(columns, "  "+row(e, record, caughtUp, colours))
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

// Rows returns a line for each exercise, with the columns of Table.
func Rows(exercises []Exercise, progress Progress, colours ui.Palette) []string {
	var rows strings.Builder
	columns := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for _, e := range exercises {
		record := progress.Of(e)
		fmt.Fprintln(columns, row(e, record, isCaughtUp(e, record), colours))
	}
	_ = columns.Flush() // to memory
	return strings.FieldsFunc(emptyColumns.ReplaceAllString(rows.String(), ""), func(r rune) bool { return r == '\n' })
}

func isCaughtUp(e Exercise, record Record) bool {
	return e.HasSolution() && (!record.Passing || record.Passed == nil)
}

var emptyColumns = regexp.MustCompile(`(?m) +$`)

func row(e Exercise, record Record, caughtUp bool, colours ui.Palette) string {
	mark := colours.Grey.Sprint("·") // the marks' colour codes are equally long, so the columns stay aligned
	minutes, hints, note := "", "", ""
	if record.Passing {
		mark = colours.Green.Sprint("✓")
	}
	if record.IsJudged(e) {
		note = "judged"
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
	return fmt.Sprintf("%s %s\t%s\t%s\t%s\t%s", mark, e.Name(), e.Title, minutes, hints, note)
}
