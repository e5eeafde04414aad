// Package overview counts what the top README says of the course as a whole, in tables: the chapters, and what each leaves to be written by
// hand.
package overview

import (
	"fmt"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/exercises"
)

// Tables are the tables that texts may ask for.
func Tables() docs.Tables {
	return docs.Tables{"chapters": Chapters, "by-hand": ByHand}
}

// Chapters has a line for each chapter below root: the problem, what the chapter adds to solve it,
// and how many minutes the text and its exercises take.
func Chapters(root string) (string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return "", err
	}
	table := [][]string{{"chapter", "the problem", "you add", "minutes, and for the exercises"}}
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
			fmt.Sprintf("[%s](%s/README.md)", chapter.Name, chapter.Name), summary.Problem, summary.Add,
			fmt.Sprintf("%s + %d", summary.Minutes, minutes),
		})
	}
	return markdown(table), nil
}

// markdown writes a table whose first line is its head.
func markdown(table [][]string) string {
	table = slices.Insert(table, 1, slices.Repeat([]string{"---"}, len(table[0])))
	var text strings.Builder
	for _, row := range table {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
	}
	return text.String()
}
