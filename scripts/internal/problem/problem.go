// Package problem has the errors that the workshop shows to its user. Each says what went wrong,
// what to do about it, and where its log is. Errors that only wrap another one stay plain Go
// errors.
package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrReported ends a command whose output has already explained why.
var ErrReported = errors.New("already reported")

type Problem struct {
	What string // what went wrong, without a full stop
	Fix  string // what the user does about it
	Log  string // path of a log with details; may be ""
	Err  error  // the cause; may be nil
}

// New returns a Problem. ToDo adds the fix, and Because the cause.
func New(what string, args ...any) *Problem { return &Problem{What: fmt.Sprintf(what, args...)} }

func (p *Problem) ToDo(fix string, args ...any) *Problem {
	p.Fix = fmt.Sprintf(fix, args...)
	return p
}

// Because sets the underlying error, which may be nil.
func (p *Problem) Because(err error) *Problem {
	p.Err = err
	return p
}

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

// Format formats an error for a terminal: the error, its fix and its log.
func Format(err error) string {
	var p *Problem
	if !errors.As(err, &p) {
		return err.Error()
	}
	lines := []string{err.Error()}
	if p.Fix != "" {
		lines = append(lines, "  what to do: "+p.Fix)
	}
	if p.Log != "" {
		lines = append(lines, "  log: "+p.Log)
	}
	return strings.Join(lines, "\n")
}

// Cause is a known cause of failure, recognized by any of its phrases in a program's output.
type Cause struct {
	Phrases   []string
	What, Fix string
}

// Explain names the cause that a program has printed, and its fix, and reports whether it is known.
func (p *Problem) Explain(causes []Cause, printed string) bool {
	i := slices.IndexFunc(causes, func(c Cause) bool {
		return slices.ContainsFunc(c.Phrases, func(phrase string) bool { return strings.Contains(printed, phrase) })
	})
	if i < 0 {
		return false
	}
	p.What, p.Fix = p.What+", since "+causes[i].What, causes[i].Fix
	return true
}

// OnMachine returns the causes that any program can report, in the order to try them. A full disk
// comes first, because it makes other things fail too.
func OnMachine() []Cause {
	return []Cause{{
		Phrases: []string{"no space left on device", "disk quota exceeded"},
		What:    "the disk is full",
		Fix: "free some space (\"go clean -cache\" empties Go's build cache, which may be on another disk than " +
			"this folder), then run the same command again",
	}, {
		Phrases: []string{"signal: killed", "cannot allocate memory", "out of memory"},
		What:    "the machine ran out of memory",
		Fix:     "close other programs (2 GiB free are needed), then run the same command again",
	}, {
		Phrases: []string{"address already in use"},
		What:    "another program uses its port",
		Fix: "stop that program and run this again; or \"./scripts/workshop down --purge\", and the next " +
			"\"./scripts/workshop up\" creates a cluster on free ports",
	}, {
		Phrases: []string{"permission denied"},
		What:    "a file can't be read or written",
		Fix:     "check who owns this folder and Go's caches (did you run this as root before?)",
	}}
}

// OfGo returns the causes that the go command reports: OnMachine's, and some whose phrases mean
// something else elsewhere. For example, a refused connection in a scheduler's log is no failed
// download.
func OfGo() []Cause {
	return slices.Insert(OnMachine(), 1, []Cause{{
		Phrases: []string{"requires go >=", "toolchain not available", "go: download go1", "invalid go version"},
		What:    "this Go is too old",
		Fix:     "install the Go that go.mod names, or a newer one, from https://go.dev/dl/",
	}, {
		Phrases: []string{"inconsistent vendoring", "-mod=vendor"},
		What:    "Go is told to use vendored modules (GOFLAGS=-mod=vendor)",
		Fix:     "unset GOFLAGS; go env -u GOFLAGS",
	}, {
		Phrases: []string{"neither GOMODCACHE nor GOPATH is set", "GOCACHE is not defined", "$HOME is not defined"},
		What:    "Go has no folder for its caches",
		Fix:     "set HOME to your home folder",
	}, {
		Phrases: []string{
			"dial tcp", "no such host", "i/o timeout", "TLS handshake timeout", "connection refused", "x509:", ": reading http",
			"module lookup disabled",
		},
		What: "the Go modules couldn't be downloaded",
		Fix: "check the network, or set GOPROXY (and HTTPS_PROXY, if you need one) to what you can reach; then " +
			"run the same command again, it continues where it stopped",
	}}...)
}
