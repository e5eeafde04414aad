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
		"no workers":        {options{}, "--workers 0: must be at least 1"},
		"a negative resync": {options{workers: 1, resync: -time.Second}, "--resync -1s: must not be negative; 0 means never"},
	} {
		t.Run(flag, func(t *testing.T) {
			if err := run(t.Context(), test.options); err == nil || err.Error() != test.want {
				t.Errorf("got the error %v, want %q", err, test.want)
			}
		})
	}
}
