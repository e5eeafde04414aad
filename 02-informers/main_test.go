// Tests that main.go refuses invalid flags, and a check that no goroutine outlives a test.

package main

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain fails the whole run if a test leaves a goroutine behind, because the controller has to
// end with its context.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestRunRefusesInvalidFlags(t *testing.T) {
	for flag, test := range map[string]struct {
		options options
		want    string
	}{
		"a negative resync": {options{resync: -time.Second}, "--resync -1s: must not be negative; 0 means never"},
	} {
		t.Run(flag, func(t *testing.T) {
			if err := run(t.Context(), test.options); err == nil || err.Error() != test.want {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}
