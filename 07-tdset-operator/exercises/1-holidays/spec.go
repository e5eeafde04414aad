// The spec of a TDSet with holidays, and nextHour. You don't need to change anything here.

package holidays

import (
	"time"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Spec is the spec of a TDSet, with holidays.
type Spec struct {
	schedulev2.TDSetSpec
	// Holidays are dates in the TDSet's zone, such as 2026-12-25. No window is active on them.
	Holidays []string
}

// nextHour returns the first instant after t at which the wall clock may show another hour, as in
// the package schedule. That is the next full hour, or the change of the zone's offset from UTC if
// it comes first. Don't assume which hour or which date it is then.
func nextHour(t time.Time) time.Time {
	since := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	full := t.Add(time.Hour - since)
	if _, bound := t.ZoneBounds(); bound.After(t) && bound.Before(full) {
		return bound
	}
	return full
}
