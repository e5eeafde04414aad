// What a TDSet with holidays says, and the steps of a wall clock. Given: there is nothing to do here.

package holidays

import (
	"time"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// Spec is a TDSet's, with holidays.
type Spec struct {
	schedulev1.TDSetSpec
	// Holidays are dates in the TDSet's zone, such as 2026-12-25. On them no window is active.
	Holidays []string
}

// nextHour returns the first instant after t at which the wall clock may show another hour, as in the package schedule: the full
// hour, or the bound at which the zone's offset from UTC changes, if that comes first. What hour it is then, and what date, nobody
// has promised.
func nextHour(t time.Time) time.Time {
	since := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	full := t.Add(time.Hour - since)
	if _, bound := t.ZoneBounds(); bound.After(t) && bound.Before(full) {
		return bound
	}
	return full
}
