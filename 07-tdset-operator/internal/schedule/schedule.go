// Package schedule is the heart of the operator: what a TDSet wants at an instant. All functions
// are pure. None of them reads a clock, because callers pass the instant. span.go has the arithmetic
// of one window. rules.go says which schedules are invalid, and warnings.go which may not be what
// their authors meant.
package schedule

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // embeds the time zones, because an image FROM scratch has no /usr/share/zoneinfo

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// None is the active window outside of all windows. It is also what slices.IndexFunc returns then.
const None = -1

// State says how many replicas a TDSet asks for at an instant, and until when.
type State struct {
	// Replicas is the number of replicas: the active window's, or defaultReplicas.
	Replicas int32
	// Window is the active window, as an index into windows, or None.
	Window int
	// Next is when the active window changes, in the TDSet's zone. It is zero if that never happens.
	Next time.Time
}

// At returns what spec asks for at an instant. It fails if the time zone is unknown, or if the
// start or the end of a window isn't a time of day. Validate finds more.
//
// A window is active while the wall clock of its zone shows one of its minutes. When clocks are set
// forward, minutes are skipped, and when they are set back, minutes repeat. The windows follow.
func At(spec *schedulev2.TDSetSpec, instant time.Time) (State, error) {
	zone, err := Location(spec)
	if err != nil {
		return State{}, err
	}
	spans, err := spansOf(spec.Windows)
	if err != nil {
		return State{}, err
	}
	local := instant.In(zone) // In drops the monotonic reading, which ignores changes of the wall clock
	state := State{Replicas: spec.DefaultReplicas, Window: spans.activeAt(local)}
	if state.Window != None {
		state.Replicas = spec.Windows[state.Window].Replicas
	}
	boundaries := spans.boundaries()
	if !spans.changes(boundaries) {
		return state, nil // the same window is active all week
	}
	// This loop ends, because at one of the week's boundaries another window is active. Changes of
	// the zone's offset may skip or repeat some of them, but there are weeks without such a change.
	state.Next = nextBoundary(local, boundaries)
	for spans.activeAt(state.Next) == state.Window {
		state.Next = nextBoundary(state.Next, boundaries)
	}
	return state, nil
}

// Location returns the time zone of spec's windows, or UTC if it names none. It refuses Local,
// which is whatever zone this computer is set to.
func Location(spec *schedulev2.TDSetSpec) (*time.Location, error) {
	zone, err := time.LoadLocation(spec.TimeZone)
	if err != nil || zone == time.Local {
		return nil, fmt.Errorf("timeZone %q: %s", spec.TimeZone, unknownZone)
	}
	return zone, nil
}

// unknownZone is the message of the CRD's rule, too.
const unknownZone = "unknown time zone: use an IANA name, such as Europe/Berlin or UTC"

// Name returns a window's name. None is "default".
func Name(spec *schedulev2.TDSetSpec, window int) string {
	if window == None {
		return "default"
	}
	return spec.Windows[window].Name
}

// nextBoundary returns the first instant after t at which the wall clock may show a boundary. That
// is the next one of the day, or the change of the zone's offset from UTC if it comes first. (After
// such a change the wall clock may show any time, so the caller has to look again.) boundaries are
// minutes of the day in ascending order, and the last one is the end of the day.
func nextBoundary(t time.Time, boundaries []int) time.Time {
	minute := minuteOf(t)
	next, _ := slices.BinarySearch(boundaries, minute+1)
	into := time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond()) // the current minute
	boundary := t.Add(time.Duration(boundaries[next]-minute)*time.Minute - into)
	// On the last day of a leap year, Go 1.26 may return a change that has passed already, but there
	// is none on that day: https://go.dev/issue/81583
	if _, change := t.ZoneBounds(); change.After(t) && change.Before(boundary) {
		return change
	}
	return boundary
}
