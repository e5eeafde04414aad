// Package await waits, in tests, for what isn't so yet: as short as can be, with a bound, and with a message that says what
// was still missing then.
package await

import (
	"testing"
	"time"
)

// shortest and longest are how long it is until the next look: at first, and after many that were in vain. Many who wait for long would
// else keep a machine busy with looking.
const (
	shortest = 20 * time.Millisecond
	longest  = 200 * time.Millisecond
)

// That waits until check finds nothing to complain about, and ends the test if that takes longer than patience.
func That(t testing.TB, timeout time.Duration, sentence string, check func() error) {
	t.Helper()
	deadline := time.After(timeout)
	for pause := shortest; ; pause = min(pause*3/2, longest) {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: still not true after %v: %v", sentence, timeout, err)
		case <-time.After(pause):
		}
	}
}
