package chapterdiff

// This file shows a diff to a reader: plain text, unified hunks, a heading in words for each file.

import (
	"fmt"
	"io"
	"strings"

	"example.com/operators/scripts/internal/ui"
)

// Print shows the diff: what changed, the lesson's file first, then what is gone, then what is new.
func (d Diff) Print(w io.Writer, colour bool) error {
	p := newPrinter(colour)
	p.paint(p.heading, "From %s (-) to %s (+): %s to read.", d.A.Name, d.B.Name, ui.Plural(d.toRead(), "line"))
	if names := d.sameFiles(); len(names) > 0 {
		p.say("The same in both: %s.", strings.Join(names, ", "))
	}
	apart := true // an empty line between files; none between two of which there is only a heading
	for _, pair := range d.pairs {
		if pair.state() == stateSame || !d.shows(pair.kind()) {
			continue
		}
		if apart || !d.folds(pair) {
			p.say("")
		}
		apart = !d.folds(pair)
		p.paint(p.heading, "%s", pair.words())
		if !d.folds(pair) {
			p.hunks(pair)
		}
	}
	if hidden := d.hidden(); len(hidden) > 0 {
		p.say("\nNot shown: %s.", strings.Join(hidden, "; "))
	}
	_, err := p.out.WriteTo(w)
	return err
}

func (d Diff) shows(k kind) bool {
	switch k {
	case kindTest:
		return d.options.Tests
	case kindExercise:
		return d.options.Exercises
	}
	return k != kindText && k != kindGenerated
}

// folds tells whether the heading is all that is shown of a file.
func (d Diff) folds(p pair) bool {
	alone := p.state() == stateGone || p.state() == stateNew && p.kind() == kindProgram
	return alone && !d.options.All
}

func (d Diff) sameFiles() []string {
	var names []string
	for _, p := range d.pairs {
		if p.state() == stateSame && d.shows(p.kind()) {
			names = append(names, p.title())
		}
	}
	return names
}

// hidden says what differs and isn't shown, and the flag that shows it.
func (d Diff) hidden() []string {
	var tests, exercises, written, folded int
	for _, p := range d.pairs {
		if p.kind() == kindGenerated || p.nowGenerated {
			written++
		}
		switch {
		case p.state() == stateSame:
		case p.kind() == kindTest && !d.options.Tests:
			tests++
		case p.kind() == kindExercise && !d.options.Exercises:
			exercises++
		case d.shows(p.kind()) && d.folds(p):
			folded++
		}
	}
	var hidden []string
	add := func(n int, what, flag string) {
		if n > 0 {
			hidden = append(hidden, fmt.Sprintf("%s%s%s", ui.Plural(n, "file"), what, flag))
		}
	}
	add(folded, " only named above", " (--all)")
	add(tests, " of tests", " (--tests)")
	add(exercises, " of exercises", " (--exercises)")
	add(written, " that a generator wrote", "")
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

// words say what happened to a file.
func (p pair) words() string {
	removed, added := p.removed.total(), p.added.total()
	own := ""
	if p.kind() == kindProgram {
		own = ", a program of its own"
	}
	switch {
	case p.nowGenerated:
		return fmt.Sprintf("%s: written by a generator now (%s by hand before)", p.title(), ui.Plural(removed, "line"))
	case p.state() == stateGone:
		return fmt.Sprintf("%s: gone%s (%s)", p.title(), own, ui.Plural(removed, "line"))
	case p.state() == stateNew:
		return fmt.Sprintf("%s: new%s (%s)", p.title(), own, ui.Plural(added, "line"))
	case removed+added == 0:
		return p.title() + ": only blank lines changed"
	case p.lesson:
		return fmt.Sprintf("%s, the lesson: %s changed (%d removed, %d added)", p.title(), ui.Plural(removed+added, "line"), removed, added)
	}
	return fmt.Sprintf("%s: %s changed (%d removed, %d added)", p.title(), ui.Plural(removed+added, "line"), removed, added)
}
