// Package gobuild runs `go build` for everything that the workshop builds, such as the control plane.
// All builds have the same flags and environment, so packages that programs share are compiled once,
// and all report their progress.
package gobuild

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// Environment is what all builds add to the environment. The compiler's flags, cgo and -trimpath
// are part of each package's key in Go's cache, so a program built with others would compile all its
// libraries again. cgo is off because images FROM scratch need static programs, and -trimpath
// because `go run` doesn't use it.
//
// The compiler's flags are in $GOFLAGS, which scripts/workshop sets for all that it starts, and
// `workshop env` for your own `go run`. In Kubernetes' packages, which are most of the build, they
// turn off inlining and debug information. That saves an eighth of the CPU time, and encoding,
// decoding and copying a Pod stay as fast.
//
// On two cores, go compiles two packages at a time. Compilers that use one core each need another
// eighth less than compilers that use two.
func Environment() []string {
	return []string{"GOWORK=off", "CGO_ENABLED=0", "GOMAXPROCS=" + strconv.Itoa((runtime.NumCPU()+1)/2)}
}

// grace is how long go has to remove its temporary files when it is interrupted.
const grace = 5 * time.Second

type Build struct {
	What     string         // what is built, for errors
	Dir      string         // the module's, or a folder in it
	Args     []string       // flags beyond those that all builds have, then packages
	Env      []string       // beyond Environment, such as GOOS=linux
	Progress func(Progress) // may be nil
}

// Run builds. Its flags override those in the user's GOFLAGS that would break the build. It doesn't
// ask git for the commit, because git refuses to answer if another user owns the repository (a
// mounted folder, or sudo), and the build would fail.
func (b Build) Run(ctx context.Context) error {
	args := []string{"build", "-v", "-p", strconv.Itoa(runtime.NumCPU()), "-mod=readonly", "-buildvcs=false"}
	cmd := b.command(ctx, append(args, b.Args...)...)
	watch := newWatcher(b.Progress)
	cmd.Stderr = watch
	counting, stop := context.WithCancel(ctx)
	if b.Progress != nil {
		go b.count(counting, watch)
	}
	err := cmd.Run()
	stop()
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

func (b Build) command(ctx context.Context, args ...string) *process.Command {
	cmd := process.NewCommand(ctx, grace, "go", args...)
	cmd.Dir = b.Dir
	cmd.Env = slices.Concat(os.Environ(), Environment(), b.Env)
	if slices.Contains(b.Args, "-race") {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1") // the race detector needs cgo
	}
	return cmd
}

// Tool builds one of the tools in scripts/go.mod by its package, and returns the program's path. If
// the program is up to date, that takes go less than a second. progress may be nil.
func Tool(ctx context.Context, root, tool string, progress func(Progress)) (program string, err error) {
	program = filepath.Join(root, ".workshop", "bin", path.Base(tool))
	return program, Build{
		What:     path.Base(tool),
		Dir:      filepath.Join(root, "scripts"),
		Args:     []string{"-o", program, tool},
		Progress: progress,
	}.Run(ctx)
}
