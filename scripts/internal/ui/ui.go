// Package ui shows progress: one changing line on a terminal, and plain lines elsewhere. Commands
// print their results themselves.
package ui

import (
	"fmt"
	"io"
	"os"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// UI writes progress to one file, usually stderr.
type UI struct {
	out     io.Writer
	width   func() int // of the terminal, in characters; nil if out is no terminal
	palette Palette
}

// New returns a UI for out. A terminal gets lines that change and, unless NO_COLOR is set, colors.
func New(out *os.File) *UI {
	u := &UI{out: out, palette: NewPalette(Coloured(out))}
	if moves(out) {
		u.width = func() int { w, _, _ := term.GetSize(int(out.Fd())); return w }
	}
	return u
}

// Say prints a text. On a terminal, it wraps the text. While a step runs, use Step.Note.
func (u *UI) Say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if u.width != nil {
		text = Wrap(text)
	}
	fmt.Fprintln(u.out, text)
}

type Palette struct {
	Green, Red, Cyan, Grey, Bold *color.Color
}

// NewPalette returns colors that do nothing unless coloured.
func NewPalette(coloured bool) Palette {
	p := Palette{
		Green: color.New(color.FgGreen), Red: color.New(color.FgRed), Cyan: color.New(color.FgCyan),
		Grey: color.New(color.FgHiBlack), Bold: color.New(color.Bold),
	}
	for _, c := range []*color.Color{p.Green, p.Red, p.Cyan, p.Grey, p.Bold} {
		if coloured {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
	}
	return p
}

// Coloured reports whether out is a terminal whose user wants color.
func Coloured(out *os.File) bool { return moves(out) && os.Getenv("NO_COLOR") == "" }

// moves reports whether out is a terminal on which lines can change.
func moves(out *os.File) bool { return term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb" }

func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
