package acceptance

// Time zones that are ahead of the real ones, so that a program which only knows the real time sees
// another time of day.

import (
	"testing"
	"time"

	"example.com/operators/scripts/internal/program"
)

// ahead returns the changes of a real zone as a clock shows them that is ahead of ours by that
// much, from some days before now until some days later.
func ahead(name string, by time.Duration, now time.Time) ([]program.ZoneChange, error) {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	var changes []program.ZoneChange
	theirs := now.Add(by).AddDate(0, 0, -3).In(zone)
	for end := theirs.AddDate(0, 0, 12); !theirs.IsZero() && theirs.Before(end); _, theirs = theirs.ZoneBounds() {
		_, offset := theirs.Zone()
		changes = append(changes, program.ZoneChange{At: theirs.Add(-by), Offset: by + time.Duration(offset)*time.Second})
	}
	return changes, nil
}

func TestZonesAhead(t *testing.T) {
	now := time.Date(2026, 11, 22, 17, 30, 12, 345, time.UTC)
	for sentence, test := range map[string]struct {
		zone   string
		theirs time.Time // now on the clock that is ahead
	}{
		"the same time":                 {program.UTC, now},
		"before nine":                   {program.UTC, time.Date(2026, 6, 15, 8, 59, 57, 345, time.UTC)},
		"far in the future":             {program.UTC, time.Date(2031, 6, 15, 8, 59, 57, 345, time.UTC)},
		"half an hour off UTC":          {"Asia/Kolkata", time.Date(2026, 3, 29, 0, 29, 57, 345, time.UTC)},
		"before clocks are set forward": {"Europe/Berlin", time.Date(2026, 3, 29, 0, 59, 57, 345, time.UTC)},
		"before clocks are set back":    {"Europe/Berlin", time.Date(2026, 10, 25, 0, 59, 57, 345, time.UTC)},
		"after clocks are set back":     {"Europe/Berlin", time.Date(2026, 10, 25, 1, 0, 3, 345, time.UTC)},
		"behind UTC":                    {"America/New_York", time.Date(2026, 10, 25, 0, 59, 0, 345, time.UTC)},
	} {
		t.Run(sentence, func(t *testing.T) {
			real, err := time.LoadLocation(test.zone)
			if err != nil {
				t.Fatal(err)
			}
			by := test.theirs.Sub(now)
			changes, err := ahead(test.zone, by, now)
			if err != nil {
				t.Fatal(err)
			}
			zone, err := time.LoadLocationFromTZData(test.zone, program.EncodeZone(changes))
			if err != nil {
				t.Fatal(err)
			}
			for wait := time.Duration(0); wait < 48*time.Hour; wait += 61 * time.Second {
				got, want := now.Add(wait).In(zone), test.theirs.Add(wait).In(real)
				if got.Format("15:04:05") != want.Format("15:04:05") {
					t.Fatalf("after %v, clocks show %v, want %v", wait, got, want)
				}
			}
			_, change := now.In(zone).ZoneBounds()
			_, want := test.theirs.In(real).ZoneBounds()
			if within := want.Sub(test.theirs) < 48*time.Hour && !want.IsZero(); within && !change.Equal(want.Add(-by)) {
				t.Errorf("got a clock change at %v, want %v", change, want.Add(-by))
			}
		})
	}
}
