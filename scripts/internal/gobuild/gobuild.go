// Package gobuild runs `go build` for everything that the workshop builds. All builds have the same
// flags and environment, so packages that programs share are compiled once, and all report their
// progress.
package gobuild

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// Environment is what all builds add to the environment. cgo and -trimpath are part of each
// package's key in Go's cache, so a program built with either would compile all its libraries
// again. cgo is off because images FROM scratch need static programs, and -trimpath because `go
// run` doesn't use it. scripts/workshop exports the same CGO_ENABLED for Makefiles and tests.
func Environment() []string { return append(Memory(), "GOWORK=off", "CGO_ENABLED=0") }

// Memory lets Go's compiler and linker use more memory before garbage collection, which saves a
// fifth of their time. scripts/workshop does the same. The user's own settings win.
func Memory() []string {
	return []string{
		"GOGC=" + cmp.Or(os.Getenv("GOGC"), "300"),
		"GOMEMLIMIT=" + cmp.Or(os.Getenv("GOMEMLIMIT"), "2GiB"),
	}
}

// grace is how long go has to remove its temporary files when it is interrupted.
const grace = 5 * time.Second

type Build struct {
	What     string         // what is built, for errors
	Dir      string         // the module's, or a folder in it
	Args     []string       // flags beyond those that all builds have, then packages
	Env      []string       // beyond Environment, such as GOOS=linux
	Log      io.Writer      // gets go's output; may be nil
	Progress func(Progress) // may be nil
}

// Run builds. Its flags override those in the user's GOFLAGS that would break the build. It doesn't
// ask git for the commit, because git refuses to answer if another user owns the repository (a
// mounted folder, or sudo), and the build would fail.
func (b Build) Run(ctx context.Context) error {
	cmd := process.NewCommand(ctx, grace, "go", append([]string{"build", "-v", "-mod=readonly", "-buildvcs=false"}, b.Args...)...)
	cmd.Dir = b.Dir
	cmd.Env = slices.Concat(os.Environ(), Environment(), b.Env)
	if slices.Contains(b.Args, "-race") {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1") // the race detector needs cgo
	}
	watch := NewWatcher(b.Progress)
	cmd.Stderr = watch
	if b.Log != nil {
		cmd.Stderr = io.MultiWriter(b.Log, watch)
		fmt.Fprintf(b.Log, "# %s\n", cmd)
	}
	err := cmd.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	p := problem.New("building %s failed", b.What).Because(err)
	if len(watch.messages) > 0 {
		p.Err = fmt.Errorf("go reported:\n    %s", strings.Join(watch.messages, "\n    "))
	}
	p.Explain(problem.OfGo(), strings.Join(watch.messages, "\n"))
	return p
}

type Progress struct {
	Packages int    // compiled so far
	Package  string // the last of them
	Modules  int    // fetched so far
}

func (p Progress) String() string {
	if p.Packages == 0 && p.Modules > 0 {
		return fmt.Sprintf("%d modules fetched", p.Modules)
	}
	return fmt.Sprintf("%d packages compiled", p.Packages)
}

// lastMessages is how many of go's last messages an error shows.
const lastMessages = 20

// Watcher reads the output of `go build -v`: packages compiled, modules fetched, and messages.
type Watcher struct {
	output.Lines
	progress Progress
	report   func(Progress)
	messages []string // the last lines that are neither
}

// NewWatcher returns a Watcher that calls report, which may be nil, on progress.
func NewWatcher(report func(Progress)) *Watcher {
	if report == nil {
		report = func(Progress) {}
	}
	w := &Watcher{report: report}
	w.Do = w.read
	return w
}

func (w *Watcher) read(line string) {
	switch {
	case line == "":
		return
	case strings.HasPrefix(line, "go: downloading "):
		w.progress.Modules++
	case !strings.ContainsAny(line, " :#"): // a package's path, and nothing else
		w.progress.Packages++
		w.progress.Package = line
	default:
		w.messages = append(w.messages, line)
		w.messages = w.messages[max(0, len(w.messages)-lastMessages):]
		return
	}
	w.report(w.progress)
}
