// A running chapter's program: a process on this machine, or Pods of a Deployment in the cluster
// (pods_test.go).

package acceptance

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/output"
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

// localProgram is a program on this machine, and its log.
type localProgram struct {
	*process.Program
	log     *output.Buffer
	started time.Time
}

// startProcess starts the program. It stops at the latest at the end of the test, and if the test
// has failed, its log is printed.
func startProcess(t testing.TB, binary string, env []string, args ...string) operator {
	t.Helper()
	log, started := &output.Buffer{}, time.Now()
	program, err := process.Supervise(process.Options{Binary: binary, Args: args, Env: env, Output: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		program.Stop()
		failOnPanics(t, log.String())
		if t.Failed() {
			t.Logf("the operator's log:\n%s", log)
		}
	})
	return &localProgram{program, log, started}
}

// panics matches the output of Go's runtime for a panic, of libraries that recover from one, and of
// the race detector.
var panics = regexp.MustCompile(`(?m)^(panic|fatal error): .*|^WARNING: DATA RACE|.*(Observed a panic|panic: .*\[recovered\]).*`)

// failOnPanics fails the test if the operator has panicked or has a data race, even before a
// restart.
func failOnPanics(t testing.TB, log string) {
	t.Helper()
	if found := panics.FindString(log); found != "" {
		t.Errorf("the operator must never log this: %s", found)
	}
}

func TestPanicsInLogs(t *testing.T) {
	for log, want := range map[string]string{
		"I0101 \"Starting\"\npanic: runtime error\n\ngoroutine 1": "panic: runtime error",
		"fatal error: concurrent map writes":                      "fatal error: concurrent map writes",
		"==================\nWARNING: DATA RACE\nRead at 0x00c0":  "WARNING: DATA RACE",
		`E0101 "Observed a panic" panic="nil map"`:                `E0101 "Observed a panic" panic="nil map"`,
		`E0101 "Reconciler error" err="don't panic: conflict"`:    "",
	} {
		if got := panics.FindString(log); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
}

func (p *localProgram) hasLogged(text string) bool { return strings.Contains(p.log.String(), text) }

func (p *localProgram) began() time.Time { return p.started }
