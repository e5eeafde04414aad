package gotest

// Running go test, so that nothing of it is left behind when it is broken off.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// grace is how long go test has to end by itself, once it has been told to.
const grace = 3 * time.Second

type Request struct {
	Dir  string   // of the module
	Env  []string // beyond this process's environment
	Args []string // go test's: flags, then packages
	// Progress is called with each test's name as it starts; may be nil.
	Progress func(test string)
}

// Run runs `go test -json`. The error says that go test itself couldn't do its work; tests that fail, and packages that
// don't build, are in the results.
func Run(ctx context.Context, r Request) (Results, error) {
	command := process.NewCommand(ctx, grace, "go", append([]string{"test", "-json"}, r.Args...)...)
	command.Dir = r.Dir
	command.Env = slices.Concat(os.Environ(), gobuild.Memory(), r.Env)
	if slices.Contains(r.Args, "-race") {
		command.Env = append(command.Env, "CGO_ENABLED=1") // the race detector needs cgo, which everything else is built without
	}
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start go test: %w", err)
	}
	results, parseErr := parse(output, r.Progress)
	_, _ = io.Copy(io.Discard, output)
	runErr := command.Wait()
	switch {
	case ctx.Err() != nil:
		return results, ctx.Err()
	case parseErr != nil:
		return results, parseErr
	case runErr != nil && !results.Failed():
		return results, refused(runErr, stderr.String())
	}
	return results, nil
}

// refused explains why go test failed when no test and no package did: a broken go.mod, a wrong GOFLAGS.
func refused(err error, said string) error {
	p := problem.New("go test can't run").Because(errors.New(strings.TrimSpace(said + "\n" + err.Error())))
	p.Explain(problem.OfGo(), said)
	return p
}
