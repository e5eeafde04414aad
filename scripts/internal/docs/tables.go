package docs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
)

// tables are functions that write a table about the repository at root as Markdown.
var tables = map[string]func(root string) (string, error){
	"by-hand":        byHand,
	"foo-promises":   func(string) (string, error) { return contract.Of(chapters.Foo).PromiseTable(), nil },
	"tdset-promises": func(string) (string, error) { return contract.Of(chapters.TDSet).PromiseTable(), nil },
	"tdset-chapters": ofChapters(contract.TDSetTable),
	"fault-chapters": ofChapters(contract.FaultTable),
}

func ofChapters(write func([]chapters.Chapter) string) func(root string) (string, error) {
	return func(root string) (string, error) {
		all, err := chapters.All(root)
		return write(all), err
	}
}

// byHand has a column for each Foo chapter: its lines of Go by hand and generated, those of its solved
// TDSet, how much there is to read after the previous chapter, and how many faults it survives.
func byHand(root string) (string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(c chapters.Chapter) bool { return c.Kind() != chapters.Foo })
	own, err := chapters.Count(context.Background(), all)
	if err != nil {
		return "", err
	}
	solved, err := chapters.Count(context.Background(), chapters.TDSets(all))
	if err != nil {
		return "", err
	}
	var table strings.Builder
	row := func(name string, lines []chapters.Lines, cell func(chapters.Lines) string) {
		fmt.Fprintf(&table, "| %s |", name)
		for _, of := range lines {
			fmt.Fprintf(&table, " %s |", cell(of))
		}
		table.WriteString("\n")
	}
	toRead := func(l chapters.Lines) string { return orDash(l.ToRead()) }
	row("lines", own, chapters.Lines.Number)
	row("---", own, func(chapters.Lines) string { return "---" })
	row("**Go written by hand**", own, func(l chapters.Lines) string { return fmt.Sprintf("**%d**", l.Code) })
	row("generated Go", own, func(l chapters.Lines) string { return orDash(l.Generated) })
	row("manifests and scripts, by hand", own, func(l chapters.Lines) string { return orDash(l.Manifests) })
	row("lines to read after the previous chapter", own, toRead)
	row(fmt.Sprintf("[faults](../acceptance/MATRIX.md) survived, of %d", len(contract.Faults())), own,
		func(l chapters.Lines) string { return fmt.Sprint(contract.Survived(l.Chapter)) })
	row("Go written by hand for TDSet", solved, func(l chapters.Lines) string { return fmt.Sprint(l.Code) })
	row("lines to read after the previous chapter's TDSet", solved, toRead)
	return table.String(), nil
}

func orDash(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
