// Package ui shows what the workshop is doing: on a terminal one line that moves, elsewhere a plain line now and then.
// It writes progress only; results are printed by the commands themselves.
package ui

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// UI writes progress to one file, as a rule stderr.
type UI struct {
	out     io.Writer
	width   func() int // of the terminal, in characters; nil: out is no terminal
	palette Palette
	follow  func(text string) // gets what a step is at, instead of out; may be nil
}

// New looks at what out is: a terminal gets moving lines and, unless NO_COLOR is set, colour.
func New(out *os.File) *UI {
	u := &UI{out: out, palette: NewPalette(Coloured(out))}
	if moves(out) {
		u.width = func() int { w, _, _ := term.GetSize(int(out.Fd())); return w }
	}
	return u
}

// Beside is for work that goes on beside what u shows: results go to out, and nothing else. follow gets what a step is at, whenever it is
// updated.
func (u *UI) Beside(out io.Writer, follow func(text string)) *UI {
	return &UI{out: out, palette: u.palette, follow: follow}
}

// Say prints a line. It must not be called while a step runs: Step.Note is for that.
func (u *UI) Say(format string, args ...any) {
	fmt.Fprintf(u.out, format+"\n", args...)
}
