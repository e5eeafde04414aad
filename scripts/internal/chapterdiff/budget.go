package chapterdiff

// This file counts all chapters: how much code each has, and how much of it a reader who comes from the one before has to
// read.

import (
	"fmt"
	"io"
	"text/tabwriter"

	"example.com/operators/scripts/internal/chapters"
)

// Size is an amount of handwritten Go.
type Size struct {
	Files          int
	Code, Comments int // lines; blank ones don't count
}

// SizeOf counts the Go of a chapter's program. Left out are tests, exercises, generated code and programs of their own,
// such as warm-ups.
func SizeOf(chapter chapters.Chapter) (Size, error) {
	files, err := readFiles(chapter)
	var size Size
	for _, f := range files {
		if f.kind == kindCode {
			size.Files++
			size.Code += f.size().code
			size.Comments += f.size().comments
		}
	}
	return size, err
}

// Row is what is counted of a chapter: its size, and its diff to the chapter before, which the first one doesn't have.
type Row struct {
	Chapter chapters.Chapter
	Size
	Lines
}

// Rows counts all chapters, each with the one before.
func Rows(all []chapters.Chapter) ([]Row, error) {
	var rows []Row
	for i, chapter := range all {
		size, err := SizeOf(chapter)
		if err != nil {
			return nil, err
		}
		row := Row{Chapter: chapter, Size: size}
		if i > 0 {
			diff, err := Compare(all[i-1], chapter, false)
			if err != nil {
				return nil, err
			}
			row.Lines = diff.lines()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Budgets prints a table of all chapters.
func Budgets(w io.Writer, all []chapters.Chapter) error {
	rows, err := Rows(all)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "CHAPTER\tFILES\tCODE\tCOMMENTS\tTO READ\tCHANGED\tNEW\tGONE")
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n",
			row.Chapter.Name, row.Files, row.Code, row.Comments, row.ToRead(), row.Changed, row.New, row.Gone)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprint(w, `
Lines of handwritten Go; blank lines, tests, exercises, generated code and warm-ups don't count. To read, for who comes
from the chapter before: the lines added and removed in files that both have, and all of new files, with their comments.
`)
	return err
}
