// The schedule through a year.

package schedule

import (
	"testing"
	"time"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// A year, minute by minute, as the controller goes through it: from one transition to the next,
// with nothing in between.
func TestYear(t *testing.T) {
	schedules := map[string][]schedulev1.Scheduling{
		"the seed's":                 seed,
		"nights":                     night,
		"an hour that may be missed": {aWindow(2, 3, 5)},
		"an hour that may be long":   {aWindow(1, 2, 5)},
		"overlaps":                   {aWindow(12, 14, 8), aWindow(9, 17, 5), aWindow(16, 2, 4)},
		"the whole day":              {aWindow(0, 24, 2)},
	}
	for zone, test := range map[string]struct {
		from     string
		wantSeed int // how many transitions the seed's schedule has
	}{
		// In each of them clocks are set forward and back once; the seed's schedule has six
		// transitions a day.
		"Europe/Berlin":       {"2026-01-01T00:00:00+01:00", 365*6 - 1},
		"America/New_York":    {"2028-01-01T00:00:00-05:00", 366*6 - 1},
		"Australia/Lord_Howe": {"2026-01-01T00:00:00+11:00", 365*6 - 1},
	} {
		for name, windows := range schedules {
			t.Run(zone+", "+name, func(t *testing.T) {
				t.Parallel()
				transitions := followYear(t, aSpec(zone, windows...), instant(t, test.from))
				if name == "the seed's" && transitions != test.wantSeed {
					t.Errorf("there are %d transitions, want %d", transitions, test.wantSeed)
				}
			})
		}
	}
}

// followYear compares the state with the brute force at each minute of the year that begins with
// from, and asks for a new one only when it says so. It returns how many transitions there are.
func followYear(t *testing.T, spec *schedulev1.TDSetSpec, from time.Time) (transitions int) {
	t.Helper()
	zone, err := Location(spec)
	if err != nil {
		t.Fatal(err)
	}
	from = from.In(zone)
	state := at(t, spec, from)
	for now, end := from, from.AddDate(1, 0, 0); now.Before(end); now = now.Add(time.Minute) {
		if now.Equal(state.Next) {
			before := state.Window
			if state = at(t, spec, now); state.Window == before {
				t.Fatalf("%s: a transition to the same window, %s", now, Name(spec, before))
			}
			transitions++
		}
		if want := activeAt(spec, zone, now); state.Window != want || state.Replicas != replicasOf(spec, want) {
			t.Fatalf("%s: the window is %s, want %s", now, Name(spec, state.Window), Name(spec, want))
		}
		if !state.Next.IsZero() && !now.Before(state.Next) {
			t.Fatalf("%s: the next transition was at %s, between two minutes", now, state.Next)
		}
	}
	return transitions
}
