// The clock. Time is an input of this controller, so the controller doesn't read the computer's
// clock directly, but gets a clock when it is created.

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
