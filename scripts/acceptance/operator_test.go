// A running chapter's program: a process on this machine, or Pods of a Deployment in the cluster
// (pods_test.go).

package acceptance

import (
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/process"
)

// operator is a program that is started again when it exits.
type operator interface {
	// Stop ends it like a Pod, and Destroy kills it, both for good. They return when it has ended.
	// Stop may be called twice.
	Stop()
	Destroy()
	// Kill kills it once, and it is started again.
	Kill()
	// Crashes is how often it has exited unasked.
	Crashes() int
	// hasLogged reports whether its log contains that text.
	hasLogged(text string) bool
	// began is when it was started.
	began() time.Time
}

// localProgram is a program on this machine.
type localProgram struct{ *process.Replica }

// startProcess starts the program. It stops at the latest at the end of the test, and if the test
// has failed, its log is printed.
func startProcess(t testing.TB, binary string, env []string, args ...string) operator {
	t.Helper()
	program, err := process.StartReplica(process.Options{Binary: binary, Args: args, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		program.Stop()
		failOnPanics(t, program.Log())
		if t.Failed() {
			t.Logf("the operator's log:\n%s", program.Log())
		}
	})
	return &localProgram{program}
}

// failOnPanics fails the test if the operator has panicked or has a data race, even before a
// restart.
func failOnPanics(t testing.TB, log string) {
	t.Helper()
	if found := process.Panic(log); found != "" {
		t.Errorf("the operator must never log this: %s", found)
	}
}

func (p *localProgram) hasLogged(text string) bool { return strings.Contains(p.Log(), text) }

func (p *localProgram) began() time.Time { return p.Began }
