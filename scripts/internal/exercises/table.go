package exercises

// The progress as a table and as a number.

import (
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"

	"example.com/operators/scripts/internal/ui"
)

// Tally says how many of the exercises are passed, such as "14 of 28 passed".
func Tally(exercises []Exercise, progress Progress) string {
	passed := 0
	for _, e := range exercises {
		if progress.Of(e).Passing {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d passed", passed, len(exercises))
}

// Table shows which exercises are passed. They have to be sorted by chapter.
func Table(all []Exercise, progress Progress, colours ui.Palette) string {
	var page strings.Builder
	for rest := all; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Chapter == rest[0].Chapter {
			n++
		}
		chapter := rest[:n]
		rest = rest[n:]
		fmt.Fprintf(&page, "%s: %s\n", colours.Bold.Sprint(chapter[0].Chapter.Name), Tally(chapter, progress))
		rows := tabwriter.NewWriter(&page, 0, 0, 2, ' ', 0)
		for _, e := range chapter {
			fmt.Fprintln(rows, "  "+row(e, progress.Of(e), colours))
		}
		_ = rows.Flush() // to memory
		fmt.Fprintln(&page)
	}
	fmt.Fprintf(&page, "Listed here: %s\n", Tally(all, progress))
	return emptyColumns.ReplaceAllString(page.String(), "")
}

var emptyColumns = regexp.MustCompile(`(?m) +$`)

func row(e Exercise, record Record, colours ui.Palette) string {
	mark := colours.Grey.Sprint("·") // the marks' color codes are equally long, so the columns stay aligned
	minutes, hints, note := "", "", ""
	if record.Passing {
		mark = colours.Green.Sprint("✓")
	}
	switch {
	case record.Judged:
		note = "judged"
	case e.Core:
		note = "core path"
	}
	if e.Minutes > 0 {
		minutes = fmt.Sprintf("%d min", e.Minutes)
	}
	if record.Hints > 0 {
		hints = ui.Plural(record.Hints, "hint")
	}
	return fmt.Sprintf("%s %s\t%s\t%s\t%s\t%s", mark, e.Name(), shortened(e.Title), minutes, hints, note)
}

// longestTitle lets a row fit into 80 columns.
const longestTitle = 42

func shortened(title string) string {
	if runes := []rune(title); len(runes) > longestTitle {
		return strings.TrimSpace(string(runes[:longestTitle-1])) + "…"
	}
	return title
}
