package chapterdiff

// This file counts instead of showing: a line for each file, then a total for each kind.

import (
	"fmt"
	"io"
	"text/tabwriter"

	"example.com/operators/scripts/internal/ui"
)

// totals are the rows below the files: code by what became of it, and then all other kinds.
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

// counts is a row of the table: a file in A, in B, and what was removed and added. Files that are the same in both are in no row.
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
