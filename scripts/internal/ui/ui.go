// Package ui shows what the workshop is doing: on a terminal one line that moves, elsewhere a plain line now and then.
// It writes progress only; results are printed by the commands themselves.
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

// Beside is for work beside what u shows: results go to out, and what a step is at to follow.
func (u *UI) Beside(out io.Writer, follow func(text string)) *UI {
	return &UI{out: out, palette: u.palette, follow: follow}
}

// Say prints a line. It must not be called while a step runs: Step.Note is for that.
func (u *UI) Say(format string, args ...any) {
	fmt.Fprintf(u.out, format+"\n", args...)
}

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

// Coloured reports whether out is a terminal whose user wants colour.
func Coloured(out *os.File) bool { return moves(out) && os.Getenv("NO_COLOR") == "" }

// moves reports whether out is a terminal that can do more than a printer.
func moves(out *os.File) bool { return term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb" }

// Plural counts: 1 test, 2 tests.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Paged calls print with a writer that leads to the pager that git uses, if out is a terminal, and to out otherwise.
func Paged(out *os.File, print func(io.Writer) error) error {
	if moves(out) {
		if pager := gitPager(); pager != "" {
			return through(pager, out, print)
		}
	}
	return print(out)
}

// gitPager is the command of the pager that git uses, or "" if there is no git or no pager.
func gitPager() string {
	said, _ := exec.Command("git", "var", "GIT_PAGER").Output()
	if pager := strings.TrimSpace(string(said)); pager != "cat" {
		return pager
	}
	return ""
}

// through calls print with the pager's input, and returns when its user has seen enough.
func through(pager string, out *os.File, print func(io.Writer) error) error {
	command := exec.Command("sh", "-c", pager)
	command.Env = append([]string{"LESS=FRX", "LV=-c"}, os.Environ()...) // git's defaults; the user's own come later, and win
	command.Stdout, command.Stderr = out, os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting the pager %q: %w", pager, err)
	}
	signal.Ignore(os.Interrupt) // Ctrl-C is the pager's: without us, it and the shell would share the terminal
	defer signal.Reset(os.Interrupt)
	printed := print(input)
	if errors.Is(printed, syscall.EPIPE) {
		printed = nil // the user has left the pager
	}
	input.Close()
	var exit *exec.ExitError
	if errors.As(command.Wait(), &exit) && exit.ExitCode() == 127 { // sh didn't find it; how else it ended is its user's business
		return problem.New("the pager %q can't be run", pager).
			ToDo("install it, or name another in PAGER; --no-pager goes without")
	}
	return printed
}
