// The clock. Time is an input of this controller, so it isn't read from the computer's clock directly: whoever starts the
// controller gives it one.

package main

import (
	"time"

	"k8s.io/utils/clock"
)

// shiftedClock is the real clock, set forward or back.
type shiftedClock struct {
	clock.RealClock
	by time.Duration
}

func (c shiftedClock) Now() time.Time { return c.RealClock.Now().Add(c.by) }

func (c shiftedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
