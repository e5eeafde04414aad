// The spec of a TDSet with weekdays, and nextHour. You don't need to change anything here.

package weekdays

import (
	"slices"
	"time"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// Spec is the schedule of a TDSet.
type Spec struct {
	SchedulingConfig []Window
	DefaultReplica   int32
	Zone             *time.Location
}

// Window is the chapter's window, restricted to some days of the week.
type Window struct {
	schedulev1.Scheduling
	// Days are the days on which the window begins: Mon, Tue, and so on. An empty list means every
	// day.
	Days []Day
}

// Day is a day of the week: Mon, Tue, Wed, Thu, Fri, Sat or Sun.
type Day string

// beginsOn reports whether window begins on that day of the week.
func (window Window) beginsOn(day time.Weekday) bool {
	return len(window.Days) == 0 || slices.Contains(window.Days, Day(day.String()[:3]))
}

// nextHour returns the first instant after t at which the wall clock may show another hour, as in
// the package schedule. That is the next full hour, or the change of the zone's offset from UTC if
// it comes first.
//
// Unlike the chapter's, it panics in the year 2100, so that the tests notice a loop that never
// ends.
func nextHour(t time.Time) time.Time {
	if t.Year() >= 2100 {
		panic("nextHour has reached the year 2100: this loop doesn't end")
	}
	since := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	full := t.Add(time.Hour - since)
	if _, bound := t.ZoneBounds(); bound.After(t) && bound.Before(full) {
		return bound
	}
	return full
}
