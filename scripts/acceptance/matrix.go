// The matrix, for readers: which chapter holds the promises through which fault. MATRIX.md is this.

package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/operators/scripts/internal/chapters"
)

// Matrix shows what is declared for these chapters, as Markdown that can be read in a terminal too.
func Matrix(all []chapters.Chapter) string {
	var text strings.Builder
	text.WriteString(`# Which chapter survives what

Each cell is a test: Foos settle, the fault strikes while they are created, scaled, renamed, deleted and interfered
with, and then each promise is judged. Where a cell says no, a test shows that, too.

`)
	head := []string{"fault"}
	for _, chapter := range all {
		head = append(head, chapter.Number())
	}
	rows := [][]string{head, slices.Repeat([]string{"---"}, len(head))}
	var reasons []string
	for _, fault := range Faults() {
		row := []string{fault.Name + " " + fault.What}
		for _, chapter := range all {
			reason := WhyNotHeld(chapter, fault.Name)
			if reason == "" {
				row = append(row, "yes")
				continue
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
			row = append(row, fmt.Sprintf("no (%d)", slices.Index(reasons, reason)+1))
		}
		rows = append(rows, row)
	}
	writeTable(&text, rows)

	text.WriteString("\n")
	for i, reason := range reasons {
		fmt.Fprintf(&text, "%d. %s%s.\n", i+1, strings.ToUpper(reason[:1]), reason[1:])
	}
	var promises []string
	for _, promise := range Promises() {
		promises = append(promises, promise.Name+" "+promise.What)
	}
	fmt.Fprintf(&text, `
While all goes well, every chapter keeps every promise:
%s.

`+"`./scripts/workshop test 01 --only F5` runs one cell, and `./scripts/workshop faults 01 F5`"+` lets you watch it.
`, strings.Join(promises, ", "))
	return text.String()
}

// writeTable writes rows with their columns aligned.
func writeTable(text *strings.Builder, rows [][]string) {
	for _, row := range rows {
		text.WriteString("|")
		for i, cell := range row {
			width := 0
			for _, other := range rows {
				width = max(width, utf8.RuneCountInString(other[i]))
			}
			fmt.Fprintf(text, " %-*s |", width, cell)
		}
		text.WriteString("\n")
	}
}
