// Package problem holds the errors that the workshop shows to its user: each says what went wrong, what to do about it
// and where its log is. Errors that only wrap another one stay plain Go errors.
package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// Problem is an error with its mend.
type Problem struct {
	What string // what went wrong, to which thing: one sentence, no full stop
	Mend string // what the user does about it
	Log  string // path of the log that tells more; "" if there is none
	Err  error  // what lies beneath; may be nil
}

// New returns a Problem that says what went wrong. ToDo adds the fix, and Because the cause.
func New(what string, args ...any) *Problem { return &Problem{What: fmt.Sprintf(what, args...)} }

// ToDo sets what the user can do about it.
func (p *Problem) ToDo(mend string, args ...any) *Problem {
	p.Mend = fmt.Sprintf(mend, args...)
	return p
}

// Because sets the underlying error, which may be nil.
func (p *Problem) Because(err error) *Problem {
	p.Err = err
	return p
}

// SeeLog sets the path of the log with the details.
func (p *Problem) SeeLog(path string) *Problem {
	p.Log = path
	return p
}

func (p *Problem) Error() string {
	if p.Err == nil {
		return p.What
	}
	return fmt.Sprintf("%s: %v", p.What, p.Err)
}

func (p *Problem) Unwrap() error { return p.Err }

// Format lays an error out for a terminal: the sentence first, then mend and log if there are any.
func Format(err error) string {
	var p *Problem
	if !errors.As(err, &p) {
		p = fromSystem(err)
	}
	lines := []string{err.Error()}
	if p.Mend != "" {
		lines = append(lines, "  what to do: "+p.Mend)
	}
	if p.Log != "" {
		lines = append(lines, "  log: "+p.Log)
	}
	return strings.Join(lines, "\n")
}

// fromSystem finds the mend of what the operating system refused.
func fromSystem(err error) *Problem {
	for _, refusal := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, fs.ErrPermission} {
		if errors.Is(err, refusal) {
			cause, _ := Find(OnMachine(), err.Error())
			return &Problem{Mend: cause.Mend}
		}
	}
	return &Problem{}
}
