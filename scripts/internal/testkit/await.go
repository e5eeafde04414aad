package testkit

import (
	"testing"
	"time"
)

// The pause between checks grows from shortest to longest, so that many waiting tests don't keep
// the machine busy.
const (
	shortest = 20 * time.Millisecond
	longest  = 200 * time.Millisecond
)

// Await waits until check returns nil, and fails the test after the timeout.
func Await(t testing.TB, timeout time.Duration, sentence string, check func() error) {
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
