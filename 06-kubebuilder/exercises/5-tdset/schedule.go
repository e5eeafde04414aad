// The schedule: what a TDSet wants at an instant. It asks no clock: the instant is given to it.

package main

import (
	"slices"
	"time"
)

// noWindow is the active window where there is none.
const noWindow = -1

// scheduleAt returns what spec asks for at an instant: how many replicas; by which of its windows, as an index into
// schedulingConfig, or noWindow; and the next instant at which another window is active, or none any more. That is the
// zero time if the same one is active at all times. Hours are hours of UTC.
func scheduleAt(spec TDSetSpec, instant time.Time) (replicas int32, window int, next time.Time) {
	hour := instant.UTC().Truncate(time.Hour)
	window = windowAt(spec.SchedulingConfig, hour.Hour())
	replicas = spec.DefaultReplica
	if window != noWindow {
		replicas = spec.SchedulingConfig[window].Replica
	}
	// Windows begin and end on the hour, and each day is like the next: what no hour of a day changes, nothing does.
	for range 23 {
		hour = hour.Add(time.Hour)
		if windowAt(spec.SchedulingConfig, hour.Hour()) != window {
			return replicas, window, hour
		}
	}
	return replicas, window, time.Time{}
}

// windowAt returns the first window that is active in an hour of the day, 0 to 23.
func windowAt(windows []Scheduling, hour int) int {
	return slices.IndexFunc(windows, func(w Scheduling) bool {
		if w.StartTime < w.EndTime {
			return w.StartTime <= hour && hour < w.EndTime
		}
		return w.StartTime <= hour || hour < w.EndTime // past midnight, or up to it: then EndTime is 0
	})
}
