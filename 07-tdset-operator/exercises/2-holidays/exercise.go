//go:build !solution

// Package holidays is about days on which the schedule doesn't count.
package holidays

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/operators/07-tdset-operator/internal/schedule"
)

// At returns what spec asks for at an instant. The error says that the zone isn't known. Holidays that aren't dates are ignored:
// Validate refuses them.
//
// On a holiday no window is active, from the first instant at which the wall clock of spec's zone shows that date to the first one of
// the next day. That is midnight; but where clocks are set forward at midnight, a day begins at one. Windows that go on past midnight
// are cut off: 22-6 isn't active in the evening of a holiday, and it is in the morning after it.
//
// Next is when another window will be active, or none any more: what the holidays do is a transition like any other, and where they
// change nothing, there is none. It is the zero time if that never happens.
func At(spec *Spec, instant time.Time) (schedule.State, error) {
	state, err := schedule.At(&spec.TDSetSpec, instant)
	if err != nil {
		return state, err
	}
	// YOUR WORK: this only knows UTC and today, and doesn't look ahead to tomorrow's holiday.
	utc := instant.UTC()
	if today := utc.Format(time.DateOnly); slices.Contains(spec.Holidays, today) {
		state = schedule.State{Replicas: spec.DefaultReplica, Window: schedule.None, Next: utc}
		for state.Next.Format(time.DateOnly) == today {
			state.Next = nextHour(state.Next)
		}
	}
	return state, nil
}

// Validate returns why a schedule is invalid: everything that the chapter's reports, a holiday that is no date (field.Invalid), and
// one that is listed twice (field.Duplicate, on the second). Each names its field, below path, which is the spec's, and its value;
// Invalid says how to write a date.
func Validate(spec *Spec, path *field.Path) field.ErrorList {
	// YOUR WORK: validate the holidays too.
	return schedule.Validate(&spec.TDSetSpec, path)
}
