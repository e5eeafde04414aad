//go:build solution

// Package weekdays has windows that are active only on some days of the week.
package weekdays

import (
	"time"

	"example.com/operators/07-tdset-operator/internal/schedule"
)

// At returns what spec asks for at an instant: the active window, its number of replicas, and when
// the active window changes.
//
// Days and hours are those that the wall clock of spec's zone shows. A window begins only on its
// days. If it continues past midnight, it stays active until its end: Fri 22-6 is active on Friday
// from 22, and on Saturday until 6. If windows overlap, the first one in the list wins.
//
// Next is when the active window changes, in spec's zone. It may be days away. It is the zero time
// if that never happens. At always returns.
func At(spec *Spec, instant time.Time) schedule.State {
	local := instant.Round(0).In(spec.Zone)
	belongs := byHour(spec.SchedulingConfig)
	state := schedule.State{Replicas: spec.DefaultReplica, Window: belongs.at(local)}
	if state.Window != schedule.None {
		state.Replicas = spec.SchedulingConfig[state.Window].Replica
	}
	if belongs.change() {
		// This loop ends, because some hour of the week belongs to another window. Clocks may skip
		// that hour in one week, so a week isn't always enough. But they don't skip it every week.
		state.Next = nextHour(local)
		for belongs.at(state.Next) == state.Window {
			state.Next = nextHour(state.Next)
		}
	}
	return state
}

// week has the window of each hour of each day of the week, Sunday first: the first window that
// includes the hour, or None.
type week [7][24]int

func byHour(windows []Window) (belongs week) {
	for day := range belongs {
		for hour := range belongs[day] {
			belongs[day][hour] = schedule.None
			for i, window := range windows {
				if has(window, time.Weekday(day), int32(hour)) {
					belongs[day][hour] = i
					break
				}
			}
		}
	}
	return belongs
}

// at returns the window of the day and the hour that the wall clock shows at an instant.
func (belongs *week) at(local time.Time) int {
	return belongs[local.Weekday()][local.Hour()]
}

// has reports whether a window includes an hour, 0 to 23, of a day of the week. If its end isn't
// after its start, it continues past midnight, or until midnight if its end is 0. After midnight,
// the day on which it began is the one before.
func has(window Window, day time.Weekday, hour int32) bool {
	if window.StartTime < window.EndTime {
		return window.beginsOn(day) && window.StartTime <= hour && hour < window.EndTime
	}
	// Take the day before in the week, not 24 hours ago, because some days have 23 or 25 hours.
	before := (day + 6) % 7
	return window.beginsOn(day) && window.StartTime <= hour || window.beginsOn(before) && hour < window.EndTime
}

// change reports whether the active window changes during a week.
func (belongs *week) change() bool {
	for _, day := range belongs {
		for _, window := range day {
			if window != belongs[0][0] {
				return true
			}
		}
	}
	return false
}
