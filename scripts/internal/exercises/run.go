package exercises

// Running go test, so that nothing of it is left behind when it is broken off.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/operators/scripts/internal/problem"
)

const (
	// defaultLimit is how long an exercise's tests may take together: they are written to need a second.
	defaultLimit = 20 * time.Second
	// grace is how long go test has to end by itself, once it has been told to.
	grace = 3 * time.Second
)

// request is one run of go test.
type request struct {
	module   string   // folder of the module
	packages []string // such as ./exercises/1-resume
	tag      string
	args     []string
	env      []string // beyond this process's
	limit    time.Duration
	progress func(test string) // called with each test's name as it starts; may be nil
}

// goTest runs go test as a reader would who has copied the chapter away. The error says that go test itself couldn't do its
// work; tests that fail, and packages that don't compile, are in the results.
func goTest(ctx context.Context, r request) (results, error) {
	args := slices.Concat([]string{"test", "-json", "-count=1", "-tags=" + r.tag, "-timeout=" + r.limit.String()}, r.args, r.packages)
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = r.module
	command.Env = slices.Concat(os.Environ(), r.env, []string{"GOWORK=off"})
	// go test, the compilers and the test get a process group, and are told to end all at once; what doesn't listen is killed.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	var killLater *time.Timer
	command.Cancel = func() error {
		killLater = time.AfterFunc(grace, kill)
		return syscall.Kill(-command.Process.Pid, syscall.SIGINT)
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
	found, parseErr := parse(output, r.progress)
	_, _ = io.Copy(io.Discard, output)
	runErr := command.Wait()
	if killLater != nil {
		killLater.Stop()
		kill() // whoever is left
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case parseErr != nil:
		return nil, parseErr
	case runErr != nil && !found.failed():
		return nil, refused(runErr, stderr.String())
	}
	return found, nil
}

// refused explains why go test failed when no test and no package did: a broken go.mod, a wrong GOFLAGS.
func refused(err error, said string) error {
	p := &problem.Problem{What: "go test can't run", Err: errors.New(strings.TrimSpace(said + "\n" + err.Error()))}
	if what, mend, known := problem.Cause(said); known {
		p.What, p.Mend = p.What+", since "+what, mend
	}
	return p
}
