package chapterdiff

// This file counts lines: of the files that differ between two chapters, or of all chapters.

import (
	"fmt"
	"io"
	"path"
	"text/tabwriter"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/ui"
)

var totals = [...]string{
	"code, changed", "code, new", "code, gone",
	"programs of their own", "tests", "manifests and scripts", "exercises", "text", "generated",
}

// total is the index in totals of the row that a file counts for.
func (p pair) total() int {
	if p.kind() == kindCode {
		return int(p.state() - stateChanged)
	}
	return 2 + int(p.kind())
}

// counts is a row of the table: the lines in A, in B, removed and added.
type counts [4]tally

func (d Diff) Stat(w io.Writer) error {
	fmt.Fprint(w, "Lines of code, and of comments in parentheses. Blank lines don't count.\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	row := func(name string, c counts) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", name, c[0], c[1], c[2], c[3])
	}
	columns := fmt.Sprintf("IN %s\tIN %s\tREMOVED\tADDED", d.A.Number(), d.B.Number())
	fmt.Fprintf(table, "FILE\t%s\n", columns)
	var sums [len(totals)]counts
	for _, p := range d.pairs {
		if p.state() == stateSame {
			continue
		}
		c := counts{p.a.size(), p.b.size(), p.removed, p.added}
		for i := range c {
			for sort := range c[i] {
				sums[p.total()][i][sort] += c[i][sort]
			}
		}
		if d.shows(p.kind()) {
			row(p.title(), c)
		}
	}
	fmt.Fprintf(table, "TOTAL\t%s\n", columns)
	for i, name := range totals {
		if sums[i] != (counts{}) {
			row(name, sums[i])
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nTo read: %s, which is the code that changed or is new, with its comments.\n", ui.Plural(d.lines().ToRead(), "line"))
	return err
}

// Row counts a chapter's handwritten Go, generated Go and manifests, and the diff from the chapter
// before, if there is one. Tests, exercises and warm-ups don't count.
type Row struct {
	Chapter              chapters.Chapter
	Files                int
	Code, Comments       int // lines; blank ones don't count
	Generated, Manifests int // lines of generated Go, and of handwritten manifests and scripts
	Lines
}

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
