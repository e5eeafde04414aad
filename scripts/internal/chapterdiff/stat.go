package chapterdiff

// This file counts instead of showing: a line for each file, then a total for each kind.

import (
	"fmt"
	"io"
	"text/tabwriter"

	"example.com/operators/scripts/internal/ui"
)

// Stat prints the number of lines of each file that differs, and the totals.
func (d Diff) Stat(w io.Writer) error {
	fmt.Fprint(w, "Lines of code, and of comments in parentheses. Blank lines don't count.\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	row := func(name string, c counts) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", name, cell(c.a), cell(c.b), cell(c.removed), cell(c.added))
	}
	columns := fmt.Sprintf("IN %s\tIN %s\tREMOVED\tADDED", d.A.Number(), d.B.Number())
	fmt.Fprintf(table, "FILE\t%s\n", columns)
	totals := map[string]counts{}
	for _, p := range d.pairs {
		if p.state() == stateSame {
			continue
		}
		c := counts{a: p.a.size(), b: p.b.size(), removed: p.removed, added: p.added}
		totals[group(p)] = totals[group(p)].plus(c)
		if d.shows(p.kind()) {
			row(p.title(), c)
		}
	}
	fmt.Fprintf(table, "TOTAL\t%s\n", columns)
	for _, name := range groups() {
		if c, ok := totals[name]; ok && (name != groupExercises || d.options.Exercises) {
			row(name, c)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nTo read: %s, which is the code that changed or is new, with its comments.\n", ui.Plural(d.toRead(), "line"))
	return err
}

// counts is a row of the table. Files that are the same in both chapters are in none.
type counts struct{ a, b, removed, added tally }

func (c counts) plus(more counts) counts {
	return counts{c.a.plus(more.a), c.b.plus(more.b), c.removed.plus(more.removed), c.added.plus(more.added)}
}

const groupExercises = "exercises"

// groups are the totals, in the order in which they are shown.
func groups() []string {
	return []string{"code, changed", "code, gone", "code, new", "programs of their own", "generated", "tests", "manifests and scripts", groupExercises, "text"}
}

func group(p pair) string {
	switch p.kind() {
	case kindProgram:
		return "programs of their own"
	case kindGenerated:
		return "generated"
	case kindTest:
		return "tests"
	case kindManifest:
		return "manifests and scripts"
	case kindExercise:
		return groupExercises
	case kindText:
		return "text"
	}
	switch p.state() {
	case stateGone:
		return "code, gone"
	case stateNew:
		return "code, new"
	}
	return "code, changed"
}

// cell shows code, and comments in parentheses.
func cell(t tally) string {
	switch {
	case t.total() == 0:
		return "-"
	case t.comments == 0:
		return fmt.Sprint(t.code)
	}
	return fmt.Sprintf("%d (%d)", t.code, t.comments)
}
