package chapterdiff

// This file prints a diff: a heading in words for each file, and unified hunks.

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/fatih/color"

	"example.com/operators/scripts/internal/ui"
)

// Print shows the diff in reading order. See inReadingOrder.
func (d Diff) Print(w io.Writer, coloured bool) error {
	var out bytes.Buffer
	// The newline comes after the colour's end, so that the colour doesn't run into the next line.
	println := func(c *color.Color, format string, args ...any) { fmt.Fprintln(&out, c.Sprintf(format, args...)) }
	colours := ui.NewPalette(coloured)
	plain := color.New()
	marks := map[byte]*color.Color{'-': colours.Red, '+': colours.Green, ' ': plain}
	plain.DisableColor()

	println(colours.Bold, "From %s (-) to %s (+): %s to read.", d.A.Name, d.B.Name, ui.Plural(d.lines().ToRead(), "line"))
	if names := d.sameFiles(); len(names) > 0 {
		println(plain, "The same in both: %s.", strings.Join(names, ", "))
	}
	apart := true // by an empty line; there is none between files with only a heading
	for _, pair := range d.pairs {
		if pair.state() == stateSame || !d.shows(pair.kind()) {
			continue
		}
		if pair.pass != "" {
			println(plain, "")
			println(colours.Bold, "%s", pair.pass)
			apart = false
		}
		if apart || !d.folds(pair) {
			println(plain, "")
		}
		apart = !d.folds(pair)
		println(colours.Bold, "%s", pair.heading())
		if d.folds(pair) {
			continue
		}
		for _, h := range pair.hunks {
			header := h.header
			if pair.state() == stateChanged { // of a whole file, names say nothing
				header += h.where()
			}
			println(colours.Cyan, "%s", header)
			for _, l := range h.lines {
				println(marks[l.mark], "%c%s", l.mark, strings.TrimSuffix(l.text, "\n"))
			}
		}
	}
	if hidden := d.hidden(); len(hidden) > 0 {
		println(plain, "\nNot shown: %s.", strings.Join(hidden, "; "))
	}
	_, err := out.WriteTo(w)
	return err
}

const maxNames = 3

// where names the declarations that a hunk changes, with a blank before them.
func (h hunk) where() string {
	names := h.names
	if len(names) > 1 && names[0] == imports {
		names = names[1:]
	}
	if more := len(names) - maxNames; more > 0 {
		return fmt.Sprintf(" %s and %d more", strings.Join(names[:maxNames], ", "), more)
	}
	return strings.TrimSuffix(" "+strings.Join(names, ", "), " ")
}

func (d Diff) shows(k kind) bool {
	return d.all && (k == kindTest || k == kindExercise) || k == kindCode || k == kindProgram || k == kindManifest
}

// folds reports whether only the heading of a file is shown.
func (d Diff) folds(p pair) bool {
	return !d.all && (p.state() == stateGone || p.state() == stateNew && p.kind() != kindCode)
}

func (d Diff) sameFiles() (names []string) {
	for _, p := range d.pairs {
		if p.state() == stateSame && d.shows(p.kind()) {
			names = append(names, p.title())
		}
	}
	return names
}

// hidden counts the differing files that aren't shown, and names the flag that shows them.
func (d Diff) hidden() (hidden []string) {
	const folded, practice, written = " only named above (--all)", " of tests and exercises (--all)", " that a generator wrote"
	files := map[string]int{}
	for _, p := range d.pairs {
		if p.kind() == kindGenerated || p.nowGenerated {
			files[written]++
		}
		switch {
		case p.state() == stateSame:
		case (p.kind() == kindTest || p.kind() == kindExercise) && !d.all:
			files[practice]++
		case d.shows(p.kind()) && d.folds(p):
			files[folded]++
		}
	}
	for _, what := range []string{folded, practice, written} {
		if files[what] > 0 {
			hidden = append(hidden, ui.Plural(files[what], "file")+what)
		}
	}
	return hidden
}

// title is the file's name, or both if it has two.
func (p pair) title() string {
	switch {
	case p.a == nil:
		return p.b.path
	case p.b == nil || p.a.path == p.b.path:
		return p.a.path
	}
	return p.a.path + " → " + p.b.path
}

func (p pair) heading() string {
	removed, added := p.removed.total(), p.added.total()
	own, lesson := "", ""
	if p.kind() == kindProgram {
		own = ", a program of its own"
		if path.Ext(p.title()) != ".go" {
			own = ", of a program of its own"
		}
	}
	if p.lesson {
		lesson = ", the lesson"
	}
	switch {
	case p.nowGenerated:
		return fmt.Sprintf("%s: written by a generator now (%s by hand before)", p.title(), ui.Plural(removed, "line"))
	case p.state() == stateGone:
		return fmt.Sprintf("%s: gone%s (%s)", p.title(), own, ui.Plural(removed, "line"))
	case p.state() == stateNew:
		return fmt.Sprintf("%s%s: new%s (%s)", p.title(), lesson, own, ui.Plural(added, "line"))
	case removed+added == 0:
		return p.title() + ": only blank lines changed"
	}
	return fmt.Sprintf("%s%s: %s changed (%d removed, %d added)", p.title(), lesson, ui.Plural(removed+added, "line"), removed, added)
}
