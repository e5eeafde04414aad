package chapterdiff

// This file puts lines and hunks on the page, in colour if that is wanted.

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fatih/color"

	"example.com/operators/scripts/internal/ui"
)

// maxNames is the number of declarations that a hunk's header names.
const maxNames = 3

// printer collects what is shown.
type printer struct {
	out             bytes.Buffer
	heading, header *color.Color
	marks           map[byte]*color.Color // nil: as it is
}

func newPrinter(colour bool) *printer {
	colours := ui.NewPalette(colour)
	return &printer{
		heading: colours.Bold,
		header:  colours.Cyan,
		marks:   map[byte]*color.Color{'-': colours.Red, '+': colours.Green},
	}
}

func (p *printer) say(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

// paint is say in colour. The newline stays outside, so that no colour runs over the line's end.
func (p *printer) paint(c *color.Color, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if c != nil {
		text = c.Sprint(text)
	}
	p.say("%s", text)
}

func (p *printer) hunks(pair pair) {
	for _, h := range pair.hunks {
		header := h.header
		if pair.state() == stateChanged { // of a whole file, names say nothing
			header += h.where()
		}
		p.paint(p.header, "%s", header)
		for _, l := range h.lines {
			p.paint(p.marks[l.mark], "%c%s", l.mark, strings.TrimSuffix(l.text, "\n"))
		}
	}
}

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
