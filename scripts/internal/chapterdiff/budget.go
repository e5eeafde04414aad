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

// Budgets prints a table of all chapters: the size of each, and of the diff from the one before.
func Budgets(w io.Writer, all []chapters.Chapter) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "CHAPTER\tFILES\tCODE\tCOMMENTS\tTO READ\tCHANGED\tNEW\tGONE")
	for i, chapter := range all {
		size, err := SizeOf(chapter)
		if err != nil {
			return err
		}
		since := "-\t-\t-\t-"
		if i > 0 {
			diff, err := Compare(all[i-1], chapter, Options{})
			if err != nil {
				return err
			}
			since = diff.budget()
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\n", chapter.Name, size.Files, size.Code, size.Comments, since)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, `
Lines of handwritten Go; blank lines, tests, exercises, generated code and warm-ups don't count. To read, for who comes
from the chapter before: the lines added and removed in files that both have, and all of new files, with their comments.
`)
	return err
}

// budget is what a row says of the diff.
func (d Diff) budget() string {
	var changed, fresh, gone int
	for _, p := range d.pairs {
		if p.kind() != kindCode {
			continue
		}
		switch p.state() {
		case stateChanged:
			changed += p.removed.total() + p.added.total()
		case stateNew:
			fresh += p.added.total()
		case stateGone:
			gone += p.removed.total()
		}
	}
	return fmt.Sprintf("%d\t%d\t%d\t%d", d.toRead(), changed, fresh, gone)
}
