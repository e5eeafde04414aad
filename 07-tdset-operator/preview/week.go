// Computes what a TDSet wants in each minute of a week.

package main

import (
	"time"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// Week is what a TDSet wants on seven days of its zone.
type Week struct {
	Days        [7]Day
	Begin       schedule.State // at its first minute
	Transitions []Transition   // in ascending order
	Changes     []Change       // of the clocks, to and from daylight saving time for example
}

// Day is a day of the calendar with its hours, 0 to 23.
type Day struct {
	Date  time.Time // midnight UTC in every zone, because a date is no instant
	Hours [24]Hour
}

// Hour is what a clock shows as one hour. It has 60 minutes unless clocks are set forward or back.
type Hour struct {
	Minutes  int
	Replicas int32 // the most in any of its minutes
}

// Transition is an instant at which another window becomes active.
type Transition struct {
	At time.Time // in the TDSet's zone
	To schedule.State
}

// Change is an instant at which clocks are set forward or back. From is what they would have shown.
type Change struct {
	From, To time.Time
}

// weekOf returns the week of spec that begins on a date. It only uses year, month and day.
func weekOf(spec *schedulev2.TDSetSpec, date time.Time) (*Week, error) {
	zone, err := schedule.Location(spec)
	if err != nil {
		return nil, err
	}
	week := &Week{}
	year, month, day := date.Date()
	for i := range week.Days {
		week.Days[i].Date = time.Date(year, month, day+i, 0, 0, 0, 0, time.UTC)
	}
	// No zone is a whole day ahead of UTC or behind it, so this starts a day early and ends a day
	// late. Each minute goes where a clock in the zone shows it. So days needn't have 24 hours.
	begin, end := week.Days[0].Date.AddDate(0, 0, -1), week.Days[6].Date.AddDate(0, 0, 2)
	state, err := schedule.At(spec, begin)
	if err != nil {
		return nil, err
	}
	began := false
	for minute := begin.In(zone); minute.Before(end); minute = minute.Add(time.Minute) {
		before, day := state, week.day(minute)
		if !state.Next.IsZero() && !minute.Before(state.Next) {
			if state, err = schedule.At(spec, minute); err != nil {
				return nil, err
			}
		}
		if change, is := changeAt(minute); is && week.day(change.From) != nil {
			week.Changes = append(week.Changes, change)
		}
		if day == nil {
			continue
		}
		switch {
		case !began:
			week.Begin, began = state, true
		case state.Window != before.Window:
			week.Transitions = append(week.Transitions, Transition{At: before.Next, To: state})
		}
		hour := &day.Hours[minute.Hour()]
		hour.Minutes++
		hour.Replicas = max(hour.Replicas, state.Replicas)
	}
	return week, nil
}

// day returns the day that a clock shows at an instant, or nil if it isn't in this week.
func (w *Week) day(instant time.Time) *Day {
	year, month, day := instant.Date()
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	for i := range w.Days {
		if w.Days[i].Date.Equal(date) {
			return &w.Days[i]
		}
	}
	return nil
}

// changeAt returns how clocks are changed at an instant, if they are.
func changeAt(instant time.Time) (Change, bool) {
	name, before := instant.Add(-time.Minute).Zone()
	_, after := instant.Zone()
	return Change{From: instant.In(time.FixedZone(name, before)), To: instant}, before != after
}
