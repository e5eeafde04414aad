//go:build solution

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
	state, err := mayChange(spec, instant)
	if err != nil {
		return schedule.State{}, err
	}
	// This loop ends, because the number of holidays is limited, and without them each Next is a
	// transition.
	for !state.Next.IsZero() {
		then, err := mayChange(spec, state.Next)
		if err != nil || then.Window != state.Window {
			return state, err
		}
		state.Next = then.Next
	}
	return state, nil
}

// mayChange returns the same as At, except for Next: here it is when a window or a holiday begins
// or ends, even if that doesn't change the active window.
func mayChange(spec *Spec, instant time.Time) (schedule.State, error) {
	state, err := schedule.At(&spec.TDSetSpec, instant)
	if err != nil {
		return state, err
	}
	zone, err := schedule.Location(&spec.TDSetSpec)
	if err != nil {
		return state, err
	}
	for _, holiday := range spec.Holidays {
		date, err := time.Parse(time.DateOnly, holiday)
		if err != nil {
			continue
		}
		first, after := begin(date, zone), begin(date.AddDate(0, 0, 1), zone)
		switch {
		case instant.Before(first) && (state.Next.IsZero() || first.Before(state.Next)):
			state.Next = first
		case !instant.Before(first) && instant.Before(after):
			return schedule.State{Replicas: spec.DefaultReplicas, Window: schedule.None, Next: after}, nil
		}
	}
	return state, nil
}

// begin returns the first instant of a day in zone. date is midnight in UTC on that day. time.Date
// wouldn't do: if the day has no midnight, it may return a time on the day before.
func begin(date time.Time, zone *time.Location) time.Time {
	day := date.Format(time.DateOnly)
	t := date.Add(-15 * time.Hour).In(zone) // no zone is that far ahead of UTC
	for t.Format(time.DateOnly) < day {
		t = nextHour(t)
	}
	return t
}

// Validate returns why a schedule is invalid: everything that the chapter's Validate reports, each
// holiday that isn't a date (field.Invalid), and each that was listed before (field.Duplicate).
// Every error has the field, below path (the path of the spec), and the value. Invalid also says
// how to write a date.
func Validate(spec *Spec, path *field.Path) field.ErrorList {
	all := schedule.Validate(&spec.TDSetSpec, path)
	path = path.Child("holidays")
	for i, holiday := range spec.Holidays {
		if _, err := time.Parse(time.DateOnly, holiday); err != nil {
			all = append(all, field.Invalid(path.Index(i), holiday, "must be a date, such as 2026-12-25"))
		} else if slices.Contains(spec.Holidays[:i], holiday) {
			all = append(all, field.Duplicate(path.Index(i), holiday))
		}
	}
	return all
}
