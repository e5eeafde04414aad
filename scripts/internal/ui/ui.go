// Package ui shows progress: one changing line on a terminal, and plain lines elsewhere. Commands
// print their results themselves.
package ui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/fatih/color"
	"golang.org/x/term"

	"example.com/operators/scripts/internal/problem"
)

// UI writes progress to one file, usually stderr.
type UI struct {
	out     io.Writer
	width   func() int // of the terminal, in characters; nil if out is no terminal
	palette Palette
}

// New returns a UI for out. A terminal gets lines that change and, unless NO_COLOR is set, colour.
func New(out *os.File) *UI {
	u := &UI{out: out, palette: NewPalette(Coloured(out))}
	if moves(out) {
		u.width = func() int { w, _, _ := term.GetSize(int(out.Fd())); return w }
	}
	return u
}

// Say prints a line. While a step runs, use Step.Note.
func (u *UI) Say(format string, args ...any) {
	fmt.Fprintf(u.out, format+"\n", args...)
}

type Palette struct {
	Green, Red, Cyan, Grey, Bold *color.Color
}

// NewPalette returns colours that do nothing unless coloured.
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

// Coloured reports whether out is a terminal whose user wants colour.
func Coloured(out *os.File) bool { return moves(out) && os.Getenv("NO_COLOR") == "" }

// moves reports whether out is a terminal on which lines can change.
func moves(out *os.File) bool { return term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb" }

func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Paged calls print with a writer to git's pager if out is a terminal, and with out otherwise.
func Paged(out *os.File, print func(io.Writer) error) error {
	if moves(out) {
		if pager := gitPager(); pager != "" {
			return through(pager, out, print)
		}
	}
	return print(out)
}

// gitPager is the command of git's pager, or "" if there is no git or no pager.
func gitPager() string {
	output, _ := exec.Command("git", "var", "GIT_PAGER").Output()
	if pager := strings.TrimSpace(string(output)); pager != "cat" {
		return pager
	}
	return ""
}

// through calls print with the pager's input, and returns when the user leaves the pager.
func through(pager string, out *os.File, print func(io.Writer) error) error {
	command := exec.Command("sh", "-c", pager)
	command.Env = append([]string{"LESS=FRX", "LV=-c"}, os.Environ()...) // git's defaults
	command.Stdout, command.Stderr = out, os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting the pager %q: %w", pager, err)
	}
	signal.Ignore(os.Interrupt) // if we exited, the pager and the shell would share the terminal
	defer signal.Reset(os.Interrupt)
	printed := print(input)
	if errors.Is(printed, syscall.EPIPE) {
		printed = nil // the user has left the pager
	}
	input.Close()
	var exit *exec.ExitError
	if errors.As(command.Wait(), &exit) && exit.ExitCode() == 127 { // sh didn't find it
		return problem.New("the pager %q can't be run", pager).
			ToDo("install it, or name another in PAGER; --no-pager goes without")
	}
	return printed
}
