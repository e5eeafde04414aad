//go:build solution

// Package weekdays is about windows that aren't the same every day.
package weekdays

import (
	"time"

	"example.com/operators/07-tdset-operator/internal/schedule"
)

// At returns what spec asks for at an instant: the active window, its replicas, and when that is over.
//
// A window has its hours on the days on which it begins. One that goes on past midnight belongs to the day on which it begins, also
// after midnight: Fri 22-6 is active on Friday from 22, and on Saturday until 6. Of windows that have the same hour of the week, the
// first one counts. What day and what hour it is, the wall clock of spec's zone says.
//
// Next is when another window will be active, or none any more, in spec's zone: it may be days away. It is the zero time if that never
// happens. At always returns.
func At(spec *Spec, instant time.Time) schedule.State {
	local := instant.Round(0).In(spec.Zone)
	belongs := byHour(spec.SchedulingConfig)
	state := schedule.State{Replicas: spec.DefaultReplica, Window: belongs.at(local)}
	if state.Window != schedule.None {
		state.Replicas = spec.SchedulingConfig[state.Window].Replica
	}
	if belongs.change() {
		// This ends: some hour of the week belongs to another window. The zone may skip that hour in one week, and so a week isn't always
		// enough, but not in all weeks.
		state.Next = nextHour(local)
		for belongs.at(state.Next) == state.Window {
			state.Next = nextHour(state.Next)
		}
	}
	return state
}

// week says of each hour of each day of a week, Sunday first, to which window it belongs: the first one that has it, or None.
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

// at returns the window to which the day and the hour belong that the wall clock shows at an instant.
func (belongs *week) at(local time.Time) int {
	return belongs[local.Weekday()][local.Hour()]
}

// has reports whether a window has an hour, 0 to 23, of a day of the week. One whose end isn't after its start goes on past midnight,
// or up to it, if its end is 0: after midnight it is the day before that counts.
func has(window Window, day time.Weekday, hour int32) bool {
	if window.StartTime < window.EndTime {
		return window.beginsOn(day) && window.StartTime <= hour && hour < window.EndTime
	}
	// The day before in the week, and not 24 hours ago: there are days of 23 hours, and of 25.
	before := (day + 6) % 7
	return window.beginsOn(day) && window.StartTime <= hour || window.beginsOn(before) && hour < window.EndTime
}

// change reports whether there is more than one window in a week.
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
