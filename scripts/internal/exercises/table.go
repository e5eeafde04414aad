package exercises

// The progress as a table, as rows and as a bar.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/operators/scripts/internal/ui"
)

// counted says how many of the exercises are passed. One may be both passed and caught up, because the
// course's solution passes the check.
func counted(exercises []Exercise, progress Progress) string {
	caughtUp := 0
	for _, e := range exercises {
		if isCaughtUp(e, progress.Of(e)) {
			caughtUp++
		}
	}
	passed := countPassed(exercises, progress)
	percent := 100 * passed / len(exercises) // rounded down: it is 100 only if all are passed
	text := fmt.Sprintf("%d of %d passed (%d %%)", passed, len(exercises), percent)
	if caughtUp > 0 {
		text += fmt.Sprintf(", %d caught up, not solved", caughtUp)
	}
	return text
}

func countPassed(exercises []Exercise, progress Progress) (passed int) {
	for _, e := range exercises {
		if progress.Of(e).Passing {
			passed++
		}
	}
	return passed
}

// Bar shows how many of the exercises are passed, such as [███░░░] 14/28 passed.
func Bar(exercises []Exercise, progress Progress) string {
	const width = 14
	passed := countPassed(exercises, progress)
	full := width * passed / max(1, len(exercises)) // rounded down, as in counted
	return fmt.Sprintf("[%s%s] %d/%d passed",
		strings.Repeat("█", full), strings.Repeat("░", width-full), passed, len(exercises))
}

// Table shows which exercises are passed. They have to be sorted by chapter.
func Table(exercises []Exercise, progress Progress, colours ui.Palette) string {
	if len(exercises) == 0 {
		return "There are no exercises yet.\n"
	}
	var page strings.Builder
	for rest := exercises; len(rest) > 0; {
		chapter := rest[0].Chapter
		n := slices.IndexFunc(rest, func(e Exercise) bool { return e.Chapter != chapter })
		if n < 0 {
			n = len(rest)
		}
		fmt.Fprintf(&page, "%s: %s\n", colours.Bold.Sprint(chapter.Name), counted(rest[:n], progress))
		for _, row := range Rows(rest[:n], progress, colours) {
			fmt.Fprintf(&page, "  %s\n", row)
		}
		page.WriteString("\n")
		rest = rest[n:]
	}
	fmt.Fprintf(&page, "In all: %s\n", counted(exercises, progress))
	return page.String()
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
