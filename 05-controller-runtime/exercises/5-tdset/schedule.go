// The schedule, as in the solution of chapter 01's exercise: what a TDSet asks for at an instant.
// Nothing here reads a clock, because the instant is an argument.

package main

import (
	"slices"
	"time"
)

// noWindow means that no window is active.
const noWindow = -1

// scheduleAt returns what spec asks for at an instant: the number of replicas, the active window
// (as an index into SchedulingConfig, or noWindow), and the next time at which another window
// becomes active or none is left. If that never happens, next is the zero time. All hours are in
// UTC.
func scheduleAt(spec TDSetSpec, instant time.Time) (replicas int32, window int, next time.Time) {
	hour := instant.UTC().Truncate(time.Hour)
	window = windowAt(spec.SchedulingConfig, hour.Hour())
	replicas = spec.DefaultReplica
	if window != noWindow {
		replicas = spec.SchedulingConfig[window].Replica
	}
	// Windows begin and end on the hour, and every day is the same. So if the other 23 hours have
	// the same window, it never changes.
	for range 23 {
		hour = hour.Add(time.Hour)
		if windowAt(spec.SchedulingConfig, hour.Hour()) != window {
			return replicas, window, hour
		}
	}
	return replicas, window, time.Time{}
}

// windowAt returns the first window that is active in an hour of the day (0 to 23), or noWindow.
func windowAt(windows []Scheduling, hour int) int {
	return slices.IndexFunc(windows, func(w Scheduling) bool {
		if w.StartTime < w.EndTime {
			return w.StartTime <= hour && hour < w.EndTime
		}
		return w.StartTime <= hour || hour < w.EndTime // it ends on the next day
	})
}
