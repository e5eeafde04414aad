// One running copy of a chapter's program.

package acceptance

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/supervise"
)

// operator is a program, kept running, and what it says.
type operator struct {
	*supervise.Program
	said *output.Buffer
}

// start starts the operator. It is stopped at the end of the test, at the latest; if the test has failed, what it said is
// logged.
func start(t testing.TB, binary string, env []string, args ...string) *operator {
	t.Helper()
	said := &output.Buffer{}
	program, err := supervise.Start(supervise.Options{Binary: binary, Args: args, Env: env, Output: said})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		program.Stop()
		if t.Failed() {
			t.Logf("what the operator said:\n%s", said)
		}
	})
	return &operator{program, said}
}

// says tells whether the operator has printed that text.
func (o *operator) says(text string) bool { return strings.Contains(o.said.String(), text) }
