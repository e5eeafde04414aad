// Package schedule is the heart of the operator: what a TDSet wants at an instant. Everything here is a pure function. Nothing asks a
// clock: the instant is given. rules.go says which schedules make no sense, and which make less sense than their authors may think.
package schedule

import (
	"fmt"
	"time"
	_ "time/tzdata" // the zones go into the program: an image that has nothing else has no /usr/share/zoneinfo

	"example.com/operators/07-tdset-operator/api/v1"
)

// None is the active window where there is none.
const None = -1

// State is what a TDSet wants at an instant.
type State struct {
	// Replicas is the number of replicas: the active window's, or defaultReplica.
	Replicas int32
	// Window is the active window, as an index into schedulingConfig, or None.
	Window int
	// Next is when another window will be active, or none any more, in the TDSet's zone. The zero time if that never happens.
	Next time.Time
}

// At returns what spec asks for at an instant. The error says that the zone isn't known; nothing else can go wrong.
//
// A window is active in the hours of its zone's wall clock that it has, so when clocks are set forward it may begin late, or not at all,
// and when they are set back it may be active twice.
func At(spec *v1.TDSetSpec, instant time.Time) (State, error) {
	zone, err := Location(spec)
	if err != nil {
		return State{}, err
	}
	local := instant.In(zone) // without a reading of the monotonic clock: that knows no jumps of the wall clock
	belongs := byHour(spec.SchedulingConfig)
	state := State{Replicas: spec.DefaultReplica, Window: belongs[local.Hour()]}
	if state.Window != None {
		state.Replicas = spec.SchedulingConfig[state.Window].Replica
	}
	if changes(belongs) {
		// This ends: some hour of the day belongs to another window, and hour follows hour, but for bounds of the zone. Between two
		// bounds there are days at least.
		state.Next = nextHour(local)
		for belongs[state.Next.Hour()] == state.Window {
			state.Next = nextHour(state.Next)
		}
	}
	return state, nil
}

// Location returns the zone that the hours of spec's windows are in: UTC if it names none. Local is no zone, but whatever the
// computer has been set to.
func Location(spec *v1.TDSetSpec) (*time.Location, error) {
	zone, err := time.LoadLocation(spec.TimeZone)
	if err != nil || zone == time.Local {
		return nil, fmt.Errorf("timeZone %q: %s", spec.TimeZone, unknownZone)
	}
	return zone, nil
}

// unknownZone is said in the CRD's rule as well.
const unknownZone = "no known time zone: say an IANA name, such as Europe/Berlin or UTC"

// Name returns a window's name, which is its hours: "9-17". None is "default".
func Name(spec *v1.TDSetSpec, window int) string {
	if window == None {
		return "default"
	}
	return hoursOf(spec.SchedulingConfig[window])
}

func hoursOf(window v1.Scheduling) string {
	return fmt.Sprintf("%d-%d", window.StartTime, window.EndTime)
}

// byHour says of each hour of a day to which window it belongs: the first one that has it, or None.
func byHour(windows []v1.Scheduling) (belongs [24]int) {
	for hour := range belongs {
		belongs[hour] = None
		for i, window := range windows {
			if has(window, int32(hour)) {
				belongs[hour] = i
				break
			}
		}
	}
	return belongs
}

// has tells whether a window has an hour, 0 to 23. One whose end isn't after its start goes on past midnight, or up to it, if its end
// is 0.
func has(window v1.Scheduling, hour int32) bool {
	if window.StartTime < window.EndTime {
		return window.StartTime <= hour && hour < window.EndTime
	}
	return window.StartTime <= hour || hour < window.EndTime
}

// changes tells whether there is more than one window in a day.
func changes(belongs [24]int) bool {
	for _, window := range belongs {
		if window != belongs[0] {
			return true
		}
	}
	return false
}

// nextHour returns the first instant after t at which the wall clock may show another hour: the full hour, or the bound at which the
// zone's offset from UTC changes, if that comes first. Until then clocks just go on. (At a bound, the hour may as well be the same, as
// where clocks are set back by half an hour.)
func nextHour(t time.Time) time.Time {
	since := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	full := t.Add(time.Hour - since)
	// On the last day of a leap year, Go 1.26 may give a bound that is over (https://go.dev/issue/81583): there is none on that day.
	if _, bound := t.ZoneBounds(); bound.After(t) && bound.Before(full) {
		return bound
	}
	return full
}
