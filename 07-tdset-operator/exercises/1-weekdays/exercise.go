//go:build !solution

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
	// YOUR WORK: from here on, this is the chapter's code, which treats all days alike.
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

// byHour returns the window of each hour of the day: the first one that includes it, or None.
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

// has reports whether a window includes an hour, 0 to 23. If its end isn't after its start, it
// continues past midnight, or until midnight if its end is 0.
func has(window Window, hour int32) bool {
	if window.StartTime < window.EndTime {
		return window.StartTime <= hour && hour < window.EndTime
	}
	return window.StartTime <= hour || hour < window.EndTime
}

// changes reports whether the active window changes during a day.
func changes(belongs [24]int) bool {
	for _, window := range belongs {
		if window != belongs[0] {
			return true
		}
	}
	return false
}
