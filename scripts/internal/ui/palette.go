package ui

// What all that print for people share.

import (
	"fmt"
	"os"

	"github.com/fatih/color"
	"golang.org/x/term"
)

type Palette struct {
	Green, Red, Cyan, Grey, Bold *color.Color
}

// NewPalette returns the colours or, unless coloured, as many that do nothing.
func NewPalette(coloured bool) Palette {
	p := Palette{color.New(color.FgGreen), color.New(color.FgRed), color.New(color.FgCyan), color.New(color.FgHiBlack), color.New(color.Bold)}
	for _, c := range []*color.Color{p.Green, p.Red, p.Cyan, p.Grey, p.Bold} {
		if coloured {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
	}
	return p
}

// Coloured tells whether out is a terminal whose user wants colour.
func Coloured(out *os.File) bool { return moves(out) && os.Getenv("NO_COLOR") == "" }

// moves tells whether out is a terminal that can do more than a printer.
func moves(out *os.File) bool { return term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb" }

// Plural counts: 1 test, 2 tests.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
