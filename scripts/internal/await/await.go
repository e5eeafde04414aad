// Package await waits, in tests, for what isn't so yet: as short as can be, with a bound, and with a message that says what
// was still missing then.
package await

import (
	"testing"
	"time"
)

// interval is how often it is looked.
const interval = 10 * time.Millisecond

// That waits until check finds nothing to complain about, and ends the test if that takes longer than patience.
func That(t testing.TB, patience time.Duration, sentence string, check func() error) {
	t.Helper()
	deadline := time.After(patience)
	for {
		complaint := check()
		if complaint == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: still not so after %v: %v", sentence, patience, complaint)
		case <-time.After(interval):
		}
	}
}
