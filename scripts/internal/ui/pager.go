package ui

// Long results on a terminal: shown page by page, as git does.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"example.com/operators/scripts/internal/problem"
)

// Paged calls print with a writer that leads to the pager that git uses, if out is a terminal, and to out otherwise.
func Paged(out *os.File, print func(io.Writer) error) error {
	if moves(out) {
		if pager := gitPager(); pager != "" {
			return through(pager, out, print)
		}
	}
	return print(out)
}

// gitPager is the command of the pager that git uses, as GIT_PAGER, core.pager and PAGER say; "" if that is none, or if
// there is no git.
func gitPager() string {
	said, _ := exec.Command("git", "var", "GIT_PAGER").Output()
	if pager := strings.TrimSpace(string(said)); pager != "cat" {
		return pager
	}
	return ""
}

// notFound is a shell's exit code for a command that it doesn't find.
const notFound = 127

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
	if errors.As(command.Wait(), &exit) && exit.ExitCode() == notFound { // how else it ended is its user's business
		return problem.New("the pager %q can't be run", pager).
			ToDo("install it, or name another in PAGER; --no-pager goes without")
	}
	return printed
}
