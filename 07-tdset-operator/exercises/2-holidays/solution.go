//go:build solution

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
	state, err := mayChange(spec, instant)
	if err != nil {
		return schedule.State{}, err
	}
	// This ends: there are only so many holidays, and without them each Next is a transition.
	for !state.Next.IsZero() {
		then, err := mayChange(spec, state.Next)
		if err != nil || then.Window != state.Window {
			return state, err
		}
		state.Next = then.Next
	}
	return state, nil
}

// mayChange returns what At does, but for Next: here that is when a window of the schedule begins or ends, or a holiday does, whether
// that changes anything or not.
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
			return schedule.State{Replicas: spec.DefaultReplica, Window: schedule.None, Next: after}, nil
		}
	}
	return state, nil
}

// begin returns the first instant of a day in zone. The date is that of UTC's midnight. time.Date wouldn't do: for a midnight that
// there isn't, it may return a time on the day before.
func begin(date time.Time, zone *time.Location) time.Time {
	day := date.Format(time.DateOnly)
	t := date.Add(-15 * time.Hour).In(zone) // no zone is that far ahead of UTC
	for t.Format(time.DateOnly) < day {
		t = nextHour(t)
	}
	return t
}

// Validate returns why a schedule is invalid: everything that the chapter's reports, a holiday that is no date (field.Invalid), and
// one that is listed twice (field.Duplicate, on the second). Each names its field, below path, which is the spec's, and its value;
// Invalid says how to write a date.
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
