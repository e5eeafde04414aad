// The schedule through a year.

package schedule

import (
	"testing"
	"time"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// A year, minute by minute, as the controller sees it: it goes from one transition to the next, and
// nothing changes in between.
func TestYear(t *testing.T) {
	schedules := map[string][]schedulev2.Window{
		"the sample's":                 seed,
		"nights":                       night,
		"an hour that may be skipped":  {aWindow(2, 3, 5)},
		"an hour that may be repeated": {aWindow(1, 2, 5)},
		"overlaps":                     {aWindow(12, 14, 8), aWindow(9, 17, 5), aWindow(16, 2, 4)},
		"the whole day":                {aWindow(0, 24, 2)},
	}
	for zone, test := range map[string]struct {
		from     string
		wantSeed int // the number of transitions of the sample's schedule
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
				if name == "the sample's" && transitions != test.wantSeed {
					t.Errorf("got %d transitions, want %d", transitions, test.wantSeed)
				}
			})
		}
	}
}

// followYear compares the state with the brute force at each minute of the year that begins at
// from. It calls At only at transitions, and returns their number.
func followYear(t *testing.T, spec *schedulev2.TDSetSpec, from time.Time) (transitions int) {
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
