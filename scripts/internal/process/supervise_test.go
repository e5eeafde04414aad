package process

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

const timeout = 30 * time.Second

// start starts a shell script as a program.
func start(t *testing.T, script string, exited func(error, bool)) (*Program, *Buffer) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	var said Buffer
	p, err := Supervise(Options{Binary: binary, Args: []string{"an argument"}, Env: []string{"A=a variable"}, Output: &said, Exited: exited})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Destroy)
	return p, &said
}

func says(said *Buffer, words string, times int) func() error {
	return func() error {
		if n := strings.Count(said.String(), words); n != times {
			return fmt.Errorf("the output has %q %d times, want %d", words, n, times)
		}
		return nil
	}
}

func TestAProgramThatExitsIsStartedAgain(t *testing.T) {
	exits := make(chan error, 10)
	p, said := start(t, `echo "up: $1, $A" >&2; exec cat /dev/zero >/dev/null`, func(why error, _ bool) { exits <- why })
	testkit.Await(t, timeout, "the program is up", says(said, "up: an argument, a variable\n", 1))
	p.Kill()
	if why := <-exits; why == nil || why.Error() != "signal: killed" {
		t.Errorf("it exited: %v", why)
	}
	testkit.Await(t, timeout, "the program is up again", says(said, "up", 2))
	p.Stop()
	p.Stop()
	if p.Crashes() != 1 || len(exits) != 0 {
		t.Errorf("got %d crashes and %d more exits, want 1 and 0", p.Crashes(), len(exits))
	}
}

func TestAProgramMayEndByItself(t *testing.T) {
	p, said := start(t, `trap "echo bye; exit" TERM; echo up; while :; do sleep 0.05; done`, nil)
	testkit.Await(t, timeout, "the program is up", says(said, "up", 1))
	p.Stop()
	if !strings.HasSuffix(said.String(), "bye\n") || p.Crashes() != 0 {
		t.Errorf("got output %q and %d crashes", said, p.Crashes())
	}
}

func TestADestroyedProgramStaysDown(t *testing.T) {
	p, said := start(t, `trap "" TERM; echo up; while :; do sleep 0.05; done`, func(error, bool) { t.Error("a destroyed program counts as crashed") })
	testkit.Await(t, timeout, "the program is up", says(said, "up", 1))
	p.Destroy()
	if p.Crashes() != 0 {
		t.Errorf("got %d crashes, want 0", p.Crashes())
	}
}

func TestAProgramStoppedBetweenRestartsStaysDown(t *testing.T) {
	exits := make(chan error, 10)
	p, said := start(t, "echo up", func(why error, _ bool) { exits <- why })
	if why := <-exits; why.Error() != "exit status 0" {
		t.Errorf("it exited: %v", why)
	}
	p.Stop()
	if err := says(said, "up", 1)(); err != nil || p.Crashes() != 1 {
		t.Errorf("%v, and %d crashes, want 1", err, p.Crashes())
	}
}

func TestAProgramThatCantBeStartedAgain(t *testing.T) {
	type exit struct {
		why   error
		again bool
	}
	exits := make(chan exit, 10)
	start(t, `rm "$0"`, func(why error, again bool) { exits <- exit{why, again} })
	if first := <-exits; !first.again {
		t.Errorf("it exited (%v), and is not to be started again", first.why)
	}
	if second := <-exits; second.again || !errors.Is(second.why, os.ErrNotExist) {
		t.Errorf("started again: %v, error %v", second.again, second.why)
	}
}

func TestAMissingProgram(t *testing.T) {
	if _, err := Supervise(Options{Binary: "/nowhere"}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "start /nowhere") {
		t.Errorf("error %v", err)
	}
}
