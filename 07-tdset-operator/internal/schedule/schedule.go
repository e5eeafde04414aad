// Package schedule is the heart of the operator: what a TDSet wants at an instant. All functions
// are pure. None of them reads a clock, because callers pass the instant. rules.go says which
// schedules are invalid, and which may not be what their authors meant.
package schedule

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // embeds the time zones, because an image FROM scratch has no /usr/share/zoneinfo

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// None is the active window outside of all windows. It is also what slices.IndexFunc returns then.
const None = -1

// State is what a TDSet wants at an instant.
type State struct {
	// Replicas is the number of replicas: the active window's, or defaultReplica.
	Replicas int32
	// Window is the active window, as an index into schedulingConfig, or None.
	Window int
	// Next is when the active window changes, in the TDSet's zone. It is zero if that never happens.
	Next time.Time
}

// At returns what spec asks for at an instant. It fails only if the time zone is unknown.
//
// A window is active while the wall clock of its zone shows one of its hours. When clocks are set
// forward, it may begin late or be skipped. When they are set back, it may be active twice.
func At(spec *schedulev1.TDSetSpec, instant time.Time) (State, error) {
	zone, err := Location(spec)
	if err != nil {
		return State{}, err
	}
	local := instant.In(zone) // In drops the monotonic reading, which ignores changes of the wall clock
	owners := windowsByHour(spec.SchedulingConfig)
	state := State{Replicas: spec.DefaultReplica, Window: owners[local.Hour()]}
	if state.Window != None {
		state.Replicas = spec.SchedulingConfig[state.Window].Replica
	}
	if !slices.ContainsFunc(owners[:], func(window int) bool { return window != state.Window }) {
		return state, nil // the same window is active all day
	}
	// This loop ends, because one of the next 24 hours belongs to another window. Changes of the
	// zone's offset may skip or repeat hours, but there are days between two of them.
	state.Next = nextHour(local)
	for owners[state.Next.Hour()] == state.Window {
		state.Next = nextHour(state.Next)
	}
	return state, nil
}

// Location returns the time zone of spec's windows, or UTC if it names none. It refuses Local,
// which is whatever zone this computer is set to.
func Location(spec *schedulev1.TDSetSpec) (*time.Location, error) {
	zone, err := time.LoadLocation(spec.TimeZone)
	if err != nil || zone == time.Local {
		return nil, fmt.Errorf("timeZone %q: %s", spec.TimeZone, unknownZone)
	}
	return zone, nil
}

// unknownZone is the message of the CRD's rule, too.
const unknownZone = "unknown time zone: use an IANA name, such as Europe/Berlin or UTC"

// Name returns a window's name, which is its hours, such as "9-17". None is "default".
func Name(spec *schedulev1.TDSetSpec, window int) string {
	if window == None {
		return "default"
	}
	return hoursOf(spec.SchedulingConfig[window])
}

func hoursOf(window schedulev1.Scheduling) string {
	return fmt.Sprintf("%d-%d", window.StartTime, window.EndTime)
}

// windowsByHour returns the window of each hour of the day: the first one that includes it, or
// None.
func windowsByHour(windows []schedulev1.Scheduling) (owners [24]int) {
	for hour := range owners {
		owners[hour] = slices.IndexFunc(windows, func(window schedulev1.Scheduling) bool { return includes(window, int32(hour)) })
	}
	return owners
}

// includes reports whether a window includes an hour, 0 to 23. If its end isn't after its start, it
// continues past midnight, or until midnight if its end is 0.
func includes(window schedulev1.Scheduling, hour int32) bool {
	if window.StartTime < window.EndTime {
		return window.StartTime <= hour && hour < window.EndTime
	}
	return window.StartTime <= hour || hour < window.EndTime
}

// nextHour returns the first instant after t at which the wall clock may show another hour. That is
// the next full hour, or the change of the zone's offset from UTC if it comes first. (After such a
// change the hour may still be the same, for example if clocks are set back by half an hour.)
func nextHour(t time.Time) time.Time {
	since := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	full := t.Add(time.Hour - since)
	// On the last day of a leap year, Go 1.26 may return a change that has passed already, but there
	// is none on that day: https://go.dev/issue/81583
	if _, change := t.ZoneBounds(); change.After(t) && change.Before(full) {
		return change
	}
	return full
}
