//go:build leftovers

package main

// Ctrl-C at ten random points of a real run. It isn't in the suite because it takes as long as six
// runs:
//
//	go test -tags=leftovers -run=TestInterrupts -timeout=3h -v ./cmd/workshop
//
// INTERRUPT_ARGS replaces workshop's arguments "test 06".

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
)

const points = 10

func TestInterruptsLeaveNothingBehind(t *testing.T) {
	root, err := findRoot()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(root, ".workshop", "bin", "workshop")
	if output, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	args := strings.Fields(cmp.Or(os.Getenv("INTERRUPT_ARGS"), "test 06"))
	within := 10 * time.Minute     // that a run takes: shorter, as soon as one has ended before it was interrupted
	others := processesOf(t, root) // such as the user's cluster
	for point := points; point > 0; {
		// One point in each tenth of the run.
		after := time.Duration((float64(point) - rand.Float64()) / points * float64(within))
		at, took, done := interrupt(t, root, binary, args, after)
		if done {
			within = took
			t.Logf("not interrupted, a run takes %v", took.Round(time.Second))
			continue // with --only, its cluster stays up
		}
		point--
		t.Logf("interrupted after %v, at %q, and ended %v later", after.Round(time.Second), at, took.Round(100*time.Millisecond))
		for pid, name := range processesOf(t, root) {
			if others[pid] == "" {
				t.Errorf("process %d was left behind: %s", pid, name)
			}
		}
		for _, pattern := range []string{"run", "reader", "clusters/test", "prove/0*"} {
			if left, _ := filepath.Glob(filepath.Join(root, ".workshop", pattern)); left != nil {
				t.Errorf("folders were left behind: %s", left)
			}
		}
	}
}

// interrupt runs workshop, sends it SIGINT after some time, and returns its last line before that,
// and how long it took to end. If it was done before, took is the whole run.
func interrupt(t *testing.T, root, binary string, args []string, after time.Duration) (at string, took time.Duration, done bool) {
	t.Helper()
	command := exec.Command(binary, args...)
	command.Env = append(os.Environ(), "WORKSHOP_ROOT="+root, "GOWORK=") // the texts use the workspace
	reader, writer := io.Pipe()
	command.Stdout, command.Stderr = writer, writer
	start := time.Now()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		for output := bufio.NewScanner(reader); output.Scan(); {
			lines <- output.Text()
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	timer := time.After(after)
	var printed []string
	for {
		select {
		case at = <-lines:
			printed = append(printed, at)
			continue
		case err := <-ended:
			if err != nil {
				t.Fatalf("the run failed before the interrupt: %v\n%s", err, strings.Join(printed, "\n"))
			}
			return at, time.Since(start), true
		case <-timer:
		}
		break
	}
	start = time.Now()
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("got %v, want exit code %d", err, exitInterrupted)
	}
	return at, time.Since(start), false
}

// processesOf returns the processes that run one of the repository's programs, or that one of its
// runs has started.
func processesOf(t *testing.T, root string) map[int32]string {
	t.Helper()
	state := filepath.Join(root, ".workshop") + "/"
	found := map[int32]string{}
	processes, err := process.Find(context.Background(), func(p *gopsutil.Process) (*gopsutil.Process, bool) {
		path, _ := p.Exe()
		args, _ := p.CmdlineSlice()
		environment, _ := p.Environ()
		return p, strings.HasPrefix(path, state) || len(args) > 0 && strings.HasPrefix(args[0], state) ||
			slices.ContainsFunc(environment, func(entry string) bool { return strings.HasPrefix(entry, "WORKSHOP_RUN="+state) })
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		found[p.Pid], _ = p.Cmdline()
	}
	return found
}
