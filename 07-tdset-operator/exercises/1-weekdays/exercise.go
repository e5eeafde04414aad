//go:build !solution

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
	// YOUR WORK: from here on, this is the code of the chapter. It only knows one day, and treats every day like it.
	local := instant.Round(0).In(spec.Zone)
	belongs := byHour(spec.SchedulingConfig)
	state := schedule.State{Replicas: spec.DefaultReplica, Window: belongs[local.Hour()]}
	if state.Window != schedule.None {
		state.Replicas = spec.SchedulingConfig[state.Window].Replica
	}
	if changes(belongs) {
		state.Next = nextHour(local)
		for belongs[state.Next.Hour()] == state.Window {
			state.Next = nextHour(state.Next)
		}
	}
	return state
}

// byHour says of each hour of a day to which window it belongs: the first one that has it, or None.
func byHour(windows []Window) (belongs [24]int) {
	for hour := range belongs {
		belongs[hour] = schedule.None
		for i, window := range windows {
			if has(window, int32(hour)) {
				belongs[hour] = i
				break
			}
		}
	}
	return belongs
}

// has reports whether a window has an hour, 0 to 23. One whose end isn't after its start goes on past midnight, or up to it, if its end
// is 0.
func has(window Window, hour int32) bool {
	if window.StartTime < window.EndTime {
		return window.StartTime <= hour && hour < window.EndTime
	}
	return window.StartTime <= hour || hour < window.EndTime
}

// changes reports whether there is more than one window in a day.
func changes(belongs [24]int) bool {
	for _, window := range belongs {
		if window != belongs[0] {
			return true
		}
	}
	return false
}
