package chapterdiff

// This file counts all chapters: how much code each has, and how much of it a reader who comes from
// the one before has to read.

import (
	"fmt"
	"io"
	"path"
	"text/tabwriter"

	"example.com/operators/scripts/internal/chapters"
)

// Row is what is counted of a chapter: its own handwritten Go, what is beside it, and its diff to
// the chapter before, which the first chapter doesn't have. Tests, exercises, and programs of their
// own such as warm-ups are left out.
type Row struct {
	Chapter              chapters.Chapter
	Files                int
	Code, Comments       int // lines; blank ones don't count
	Parts                []Part
	Generated, Manifests int // lines of Go that generators wrote, and of manifests and scripts that they didn't
	Lines
}

type Part struct {
	// File is relative to the chapter, with slashes. Declaration is the name of a function (without
	// its receiver), type, variable or constant, "imports" for those, and "" for what stands
	// outside of all, such as the package clause.
	File, Declaration string
}

// Rows counts all chapters, each with the one before.
func Rows(all []chapters.Chapter) ([]Row, error) {
	var rows []Row
	for i, chapter := range all {
		row := Row{Chapter: chapter}
		files, err := readFiles(chapter)
		if err != nil {
			return nil, err
		}
		for i := range files {
			row.add(&files[i])
		}
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

func (r *Row) add(f *file) {
	size := f.size()
	switch {
	case f.kind == kindCode:
		r.Files++
		r.Code += size[lineCode]
		r.Comments += size[lineComment]
		for line, owner := range owners(f) {
			if f.sorts[line] == lineCode {
				r.Parts = append(r.Parts, Part{File: f.path, Declaration: owner})
			}
		}
	case f.kind == kindGenerated && path.Ext(f.path) == ".go":
		r.Generated += size[lineCode]
	case f.kind == kindManifest:
		r.Manifests += size[lineCode]
	}
}

func Budgets(w io.Writer, all []chapters.Chapter) error {
	rows, err := Rows(all)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "CHAPTER\tFILES\tCODE\tCOMMENTS\tTO READ\tREMOVED\tADDED\tNEW\tGONE")
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n",
			row.Chapter.Name, row.Files, row.Code, row.Comments, row.ToRead(), row.Removed, row.Added, row.New, row.Gone)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprint(w, `
Lines of handwritten Go, without blank lines, tests, exercises, generated code and warm-ups. TO READ is what you read if you
come from the chapter before: the lines REMOVED and ADDED in files that both chapters have, and all lines of NEW files, with
their comments. GONE are the lines of files that the chapter before had.
`)
	return err
}
