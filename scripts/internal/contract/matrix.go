package contract

// The tables of acceptance/MATRIX.md, which `workshop docs --write` updates. They are aligned, so that
// they can be read in a terminal, too.

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/operators/scripts/internal/chapters"
)

// PromiseTable says what each promise means.
func (c Contract) PromiseTable() string {
	table := [][]string{{"promise", "means"}, {"---", "---"}}
	for _, promise := range c.Promises {
		means := promise.Means
		if checks := promise.Proofs(); len(checks) > 0 {
			means += fmt.Sprintf(" (judge: %s)", strings.Join(checks, ", "))
		}
		table = append(table, []string{promise.Name + " " + promise.What, means})
	}
	return align(table)
}

// TDSetTable shows which promises about TDSets the chapters keep, and FaultTable through which faults
// they keep all promises.
func TDSetTable(all []chapters.Chapter) string {
	return ofChapters("promise", tdsets().Promises, all, func(chapters.Chapter) Contract { return tdsets() })
}

func FaultTable(all []chapters.Chapter) string {
	return ofChapters("fault", Faults(), all, func(chapter chapters.Chapter) Contract { return Of(chapter.Kind()) })
}

// ofChapters has these rows, a column for each chapter, and below the reason for each cell that isn't
// a plain yes.
func ofChapters(what string, rows []Named, all []chapters.Chapter, of func(chapters.Chapter) Contract) string {
	head := []string{what}
	for _, chapter := range all {
		head = append(head, chapter.Number())
	}
	table := [][]string{head, slices.Repeat([]string{"---"}, len(head))}
	var reasons []string
	for _, named := range rows {
		row := []string{named.Name + " " + named.What}
		for _, chapter := range all {
			cell := "yes"
			if e := of(chapter).exception(chapter, named.Name); e.why != "" {
				if !slices.Contains(reasons, e.why) {
					reasons = append(reasons, e.why)
				}
				cell = fmt.Sprintf("%s (%d)", e.shown, slices.Index(reasons, e.why)+1)
			}
			row = append(row, cell)
		}
		table = append(table, row)
	}
	text := align(table) + "\n"
	for i, reason := range reasons {
		text += fmt.Sprintf("%d. %s%s.\n", i+1, strings.ToUpper(reason[:1]), reason[1:])
	}
	return text
}

func align(rows [][]string) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(table, "| %s\t|\n", strings.Join(row, "\t| "))
	}
	_ = table.Flush() // writes to memory, so it can't fail
	return text.String()
}
