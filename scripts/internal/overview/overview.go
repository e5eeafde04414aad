// Package overview makes the tables about the whole course in the top README: the chapters, and how
// much code is left to write by hand in each.
package overview

import (
	"fmt"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapterdiff"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/exercises"
)

func Tables() docs.Tables {
	return docs.Tables{"chapters": Chapters, "by-hand": ByHand}
}

// Chapters has a row for each chapter below root: the problem, what the chapter adds to solve it,
// and the minutes for its text and its exercises.
func Chapters(root string) (string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return "", err
	}
	table := [][]string{{"chapter", "operators", "the problem", "you add", "minutes: text + exercises"}}
	for _, chapter := range all {
		summary, err := chapter.Summary()
		if err != nil {
			return "", err
		}
		practice, err := exercises.In(chapter)
		if err != nil {
			return "", err
		}
		minutes := 0
		for _, exercise := range practice {
			minutes += exercise.Minutes
		}
		table = append(table, []string{
			fmt.Sprintf("[%s](%s/README.md)", chapter.Name, chapter.Name), operators(chapter), summary.Problem, summary.Add,
			fmt.Sprintf("%s + %d", summary.Minutes, minutes),
		})
	}
	return markdown(table), nil
}

// operators are the kinds of the chapter's operators. The second one is the solution of an exercise.
func operators(chapter chapters.Chapter) string {
	if _, found := chapter.TDSet(); found {
		return fmt.Sprintf("%s, [%s](%s/more/tdset.md)", chapter.Kind(), chapters.TDSet, chapter.Name)
	}
	return chapter.Kind()
}

func markdown(table [][]string) string {
	table = slices.Insert(table, 1, slices.Repeat([]string{"---"}, len(table[0])))
	var text strings.Builder
	for _, row := range table {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
	}
	return text.String()
}

// ByHand has a column for each Foo chapter: its lines of Go by hand and generated, those of its solved
// TDSet, how much there is to read after the previous chapter, and how many faults it survives.
func ByHand(root string) (string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(c chapters.Chapter) bool { return c.Kind() != chapters.Foo })
	table := [][]string{
		{"lines"},
		{"**Go written by hand**"},
		{"generated Go"},
		{"manifests and scripts, by hand"},
		{"lines to read after the previous chapter"},
		{fmt.Sprintf("[faults](scripts/acceptance/MATRIX.md) survived, of %d", len(contract.Faults()))},
	}
	rows, err := chapterdiff.Rows(all)
	if err != nil {
		return "", err
	}
	for _, row := range rows {
		for i, cell := range []string{
			row.Chapter.Number(), fmt.Sprintf("**%d**", row.Code), cell(row.Generated), cell(row.Manifests), cell(row.ToRead()), fmt.Sprint(survived(row.Chapter)),
		} {
			table[i] = append(table[i], cell)
		}
	}
	solved, err := chapterdiff.Rows(chapters.TDSets(all))
	if err != nil {
		return "", err
	}
	code, toRead := []string{"Go written by hand for TDSet"}, []string{"lines to read after the previous chapter's TDSet"}
	for _, row := range solved {
		code, toRead = append(code, cell(row.Code)), append(toRead, cell(row.ToRead()))
	}
	return markdown(append(table, code, toRead)), nil
}

// survived counts the faults through which the chapter's own program keeps its promises.
func survived(chapter chapters.Chapter) (n int) {
	for _, fault := range contract.Faults() {
		if contract.WhyNotHeld(chapter, fault.Name) == "" {
			n++
		}
	}
	return n
}

func cell(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
