//go:build !solution

// Package holidays has dates on which the schedule doesn't apply.
package holidays

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/operators/07-tdset-operator/internal/schedule"
)

// At returns what spec asks for at an instant. It fails only if the time zone is unknown. It
// ignores holidays that aren't dates, because Validate refuses them.
//
// On a holiday, no window is active. A holiday lasts from the first instant at which the wall clock
// of spec's zone shows its date to the first instant of the next day. That is midnight, but where
// clocks are set forward at midnight, a day begins at one. Windows that continue past midnight are
// cut off: 22-6 isn't active on the evening of a holiday, but it is on the morning after.
//
// Next is when the active window changes. The beginning or the end of a holiday counts only if it
// changes the active window. Next is the zero time if that never happens.
func At(spec *Spec, instant time.Time) (schedule.State, error) {
	state, err := schedule.At(&spec.TDSetSpec, instant)
	if err != nil {
		return state, err
	}
	// YOUR WORK: this is right only where clocks show UTC, and only during a holiday.
	utc := instant.UTC()
	if today := utc.Format(time.DateOnly); slices.Contains(spec.Holidays, today) {
		state = schedule.State{Replicas: spec.DefaultReplicas, Window: schedule.None, Next: utc}
		for state.Next.Format(time.DateOnly) == today {
			state.Next = nextHour(state.Next)
		}
	}
	return state, nil
}

// Validate returns why a schedule is invalid: everything that the chapter's Validate reports, each
// holiday that isn't a date (field.Invalid), and each that was listed before (field.Duplicate).
// Every error has the field, below path (the path of the spec), and the value. Invalid also says
// how to write a date.
func Validate(spec *Spec, path *field.Path) field.ErrorList {
	// YOUR WORK: validate the holidays too.
	return schedule.Validate(&spec.TDSetSpec, path)
}
