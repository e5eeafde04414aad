package zones

import (
	"testing"
	"time"
)

// A program with $ZONEINFO parses these files in the same way.
func parse(t *testing.T, name string, changes []Change) *time.Location {
	t.Helper()
	zone, err := time.LoadLocationFromTZData(name, Encode(changes))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestAhead(t *testing.T) {
	now := time.Date(2026, 11, 22, 17, 30, 12, 345, time.UTC)
	for sentence, test := range map[string]struct {
		zone   string
		theirs time.Time // now, for somebody whose clock is ahead
	}{
		"nobody is ahead":                  {UTC, now},
		"before nine":                      {UTC, time.Date(2026, 6, 15, 8, 59, 57, 345, time.UTC)},
		"far in the future":                {UTC, time.Date(2031, 6, 15, 8, 59, 57, 345, time.UTC)},
		"half an hour from UTC's hours":    {"Asia/Kolkata", time.Date(2026, 3, 29, 0, 29, 57, 345, time.UTC)},
		"before clocks are set forward":    {"Europe/Berlin", time.Date(2026, 3, 29, 0, 59, 57, 345, time.UTC)},
		"before clocks are set back":       {"Europe/Berlin", time.Date(2026, 10, 25, 0, 59, 57, 345, time.UTC)},
		"after clocks are set back":        {"Europe/Berlin", time.Date(2026, 10, 25, 1, 0, 3, 345, time.UTC)},
		"where clocks are behind of UTC's": {"America/New_York", time.Date(2026, 10, 25, 0, 59, 0, 345, time.UTC)},
	} {
		t.Run(sentence, func(t *testing.T) {
			real, err := time.LoadLocation(test.zone)
			if err != nil {
				t.Fatal(err)
			}
			by := test.theirs.Sub(now)
			changes, err := Ahead(test.zone, by, now)
			if err != nil {
				t.Fatal(err)
			}
			zone := parse(t, test.zone, changes)
			for wait := time.Duration(0); wait < 48*time.Hour; wait += 61 * time.Second {
				got, want := now.Add(wait).In(zone), test.theirs.Add(wait).In(real)
				if got.Format("15:04:05") != want.Format("15:04:05") {
					t.Fatalf("after %v, clocks show %v, want %v", wait, got, want)
				}
			}
			_, change := now.In(zone).ZoneBounds()
			_, want := test.theirs.In(real).ZoneBounds()
			if within := want.Sub(test.theirs) < 48*time.Hour && !want.IsZero(); within && !change.Equal(want.Add(-by)) {
				t.Errorf("clocks are changed at %v, want %v", change, want.Add(-by))
			}
		})
	}
}

func TestFast(t *testing.T) {
	start := time.Date(2026, 11, 22, 17, 30, 12, 0, time.UTC)
	zone := parse(t, "Antarctica/Troll", Fast(start, 21, 27))
	for i := range 27 {
		instant := start.Add(time.Duration(i)*time.Second + time.Second/2)
		if got, want := instant.In(zone).Hour(), (21+i)%24; got != want {
			t.Errorf("after %v, it is hour %d, want %d", instant.Sub(start), got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, map[string][]Change{"Europe/Berlin": {{time.Unix(0, 0), time.Hour}}}); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, map[string][]Change{"Europe": {{time.Unix(0, 0), time.Hour}}}); err == nil {
		t.Error("a zone is written over a folder")
	}
}
