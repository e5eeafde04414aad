// Package tests is about tests that find bugs in code that depends on time. It has the operator's
// own schedule, which keeps its rules, and five that each break one of them.
package tests

import (
	"fmt"
	"slices"
	"time"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// An At returns what a TDSet wants at an instant, and when that changes next. Its rules are in the
// chapter's README.
type At func(spec *schedulev2.TDSetSpec, instant time.Time) (schedule.State, error)

// right keeps all rules.
var right At = schedule.At

// wrong are schedules that each break one rule. Their names say how.
var wrong = map[string]At{
	"changes a moment too late": func(spec *schedulev2.TDSetSpec, instant time.Time) (schedule.State, error) {
		return schedule.At(spec, instant.Add(-time.Nanosecond))
	},
	"reads all times as UTC": func(spec *schedulev2.TDSetSpec, instant time.Time) (schedule.State, error) {
		spec = spec.DeepCopy()
		spec.TimeZone = ""
		return schedule.At(spec, instant)
	},
	"forgets a window at midnight": func(spec *schedulev2.TDSetSpec, instant time.Time) (schedule.State, error) {
		state, err := schedule.At(spec, instant)
		if err != nil || state.Window == schedule.None {
			return state, err
		}
		zone, err := schedule.Location(spec)
		if err != nil {
			return state, err
		}
		if window := spec.Windows[state.Window]; instant.In(zone).Format("15:04") < window.Start {
			state.Window, state.Replicas = schedule.None, spec.DefaultReplicas
		}
		return state, nil
	},
	"prefers the last window where two overlap": func(spec *schedulev2.TDSetSpec, instant time.Time) (schedule.State, error) {
		spec = spec.DeepCopy()
		slices.Reverse(spec.Windows)
		state, err := schedule.At(spec, instant)
		if state.Window != schedule.None {
			state.Window = len(spec.Windows) - 1 - state.Window
		}
		return state, err
	},
	"gives each day 24 hours": func(spec *schedulev2.TDSetSpec, instant time.Time) (schedule.State, error) {
		zone, err := schedule.Location(spec)
		if err != nil {
			return schedule.State{}, err
		}
		_, offset := instant.In(zone).Zone() // in seconds, and it never changes
		spec = spec.DeepCopy()
		spec.TimeZone = fmt.Sprintf("Etc/GMT%+d", -offset/3600) // the sign of these names is the other way round
		return schedule.At(spec, instant)
	},
}
