// A running copy of a chapter's program: a process on this machine, or what a Deployment runs in the cluster (pods_test.go).

package acceptance

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/process"
)

// operator is a program, kept running: when it exits, it is started again.
type operator interface {
	// Stop ends it for good, as a Pod is ended, and Destroy kills it for good. Both return when it is gone. Stop may be called twice.
	Stop()
	Destroy()
	// Kill kills it, and it is started again.
	Kill()
	// Crashes is how often it has exited without being told to.
	Crashes() int
	// says reports whether it has printed that text.
	says(text string) bool
	// began is when it was started.
	began() time.Time
}

// localProgram is a program on this machine, and what it says.
type localProgram struct {
	*process.Program
	said    *output.Buffer
	started time.Time
}

// startProcess starts the program. It is stopped at the end of the test, at the latest; if the test has failed, what it said is
// logged.
func startProcess(t testing.TB, binary string, env []string, args ...string) operator {
	t.Helper()
	said, started := &output.Buffer{}, time.Now()
	program, err := process.Supervise(process.Options{Binary: binary, Args: args, Env: env, Output: said})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		program.Stop()
		complainOfPanics(t, said.String())
		if t.Failed() {
			t.Logf("what the operator said:\n%s", said)
		}
	})
	return &localProgram{program, said, started}
}

// panics matches what Go's runtime prints for a panic, what libraries print when they recover from
// one, and what the race detector prints.
var panics = regexp.MustCompile(`(?m)^(panic|fatal error): .*|^WARNING: DATA RACE|.*(Observed a panic|panic: .*\[recovered\]).*`)

// complainOfPanics fails the test if the operator has panicked or has a data race, even if it was
// restarted since.
func complainOfPanics(t testing.TB, said string) {
	t.Helper()
	if found := panics.FindString(said); found != "" {
		t.Errorf("the operator must never print this: %s", found)
	}
}

func TestWhatAnOperatorMustNeverSay(t *testing.T) {
	for said, want := range map[string]string{
		"I0101 \"Starting\"\npanic: runtime error\n\ngoroutine 1": "panic: runtime error",
		"fatal error: concurrent map writes":                      "fatal error: concurrent map writes",
		"==================\nWARNING: DATA RACE\nRead at 0x00c0":  "WARNING: DATA RACE",
		`E0101 "Observed a panic" panic="nil map"`:                `E0101 "Observed a panic" panic="nil map"`,
		`E0101 "Reconciler error" err="don't panic: conflict"`:    "",
	} {
		if got := panics.FindString(said); got != want {
			t.Errorf("in %q it finds %q, want %q", said, got, want)
		}
	}
}

func (p *localProgram) says(text string) bool { return strings.Contains(p.said.String(), text) }

func (p *localProgram) began() time.Time { return p.started }
