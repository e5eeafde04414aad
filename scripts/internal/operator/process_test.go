package operator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/testkit"
)

// start starts a shell script as a process.
func start(t *testing.T, script string) *Process {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := StartProcess(Options{Binary: binary, Args: []string{"an argument"}, Env: []string{"A=a variable"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Destroy)
	return r
}

// awaitLog waits until a line is in the log that many times.
func awaitLog(t *testing.T, r *Process, line string, times int) {
	t.Helper()
	testkit.Await(t, 30*time.Second, "the process prints "+line, func() error {
		if n := strings.Count(r.Log(), line+"\n"); n != times {
			return fmt.Errorf("it has printed it %d times, want %d", n, times)
		}
		return nil
	})
}

func TestAKilledProcessIsStartedAgain(t *testing.T) {
	t.Parallel()
	r := start(t, `echo "up: $1, $A" >&2; exec cat /dev/zero >/dev/null`)
	awaitLog(t, r, "up: an argument, a variable", 1)
	r.Kill()
	awaitLog(t, r, "up: an argument, a variable", 2)
	r.Stop()
	r.Stop()
	exits := r.Exits()
	if len(exits) != 1 || exits[0].Why.Error() != "signal: killed" || !strings.HasPrefix(exits[0].Log, "up: ") {
		t.Errorf("got exits %+v, want only the killed process's", exits)
	}
}

func TestAProcessMayEndByItself(t *testing.T) {
	t.Parallel()
	r := start(t, `trap "echo bye; exit" TERM; echo up; while :; do sleep 0.05; done`)
	awaitLog(t, r, "up", 1)
	r.Stop()
	if !strings.HasSuffix(r.Log(), "bye\n") || len(r.Exits()) != 0 || r.State() != "exit status 0" {
		t.Errorf("got log %q, exits %+v and state %s", r.Log(), r.Exits(), r.State())
	}
}

func TestADestroyedProcessStaysDown(t *testing.T) {
	t.Parallel()
	r := start(t, `trap "" TERM; echo up; while :; do sleep 0.05; done`)
	awaitLog(t, r, "up", 1)
	r.Destroy()
	if len(r.Exits()) != 0 {
		t.Errorf("got exits %+v, want none", r.Exits())
	}
}

func TestAProcessStoppedBetweenRestartsStaysDown(t *testing.T) {
	t.Parallel()
	r := start(t, "echo up")
	testkit.Await(t, 30*time.Second, "the process exits", func() error {
		if exits := r.Exits(); len(exits) != 1 || exits[0].Why.Error() != "exit status 0" {
			return fmt.Errorf("got exits %+v", exits)
		}
		return nil
	})
	r.Stop()
	if r.Log() != "up\n" || len(r.Exits()) != 1 {
		t.Errorf("got log %q and exits %+v, want one of each", r.Log(), r.Exits())
	}
}

func TestAMissingProgram(t *testing.T) {
	_, err := StartProcess(Options{Binary: "/nowhere"})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "start /nowhere") {
		t.Errorf("error %v", err)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"I0101 \"Starting\"\npanic: runtime error\n\ngoroutine 1": "panic: runtime error",
		"fatal error: concurrent map writes":                      "fatal error: concurrent map writes",
		"==================\nWARNING: DATA RACE\nRead at 0x00c0":  "WARNING: DATA RACE",
		`E0101 "Observed a panic" panic="nil map"`:                `E0101 "Observed a panic" panic="nil map"`,
		`E0101 "Reconciler error" err="don't panic: conflict"`:    "",
	} {
		if got := Panic(log); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
}
