package program

import (
	"testing"
	"time"
)

// A program with $ZONEINFO parses these files in the same way.
func parseZone(t *testing.T, name string, changes []ZoneChange) *time.Location {
	t.Helper()
	zone, err := time.LoadLocationFromTZData(name, EncodeZone(changes))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestFastZone(t *testing.T) {
	start := time.Date(2026, 11, 22, 17, 30, 12, 0, time.UTC)
	zone := parseZone(t, "Antarctica/Troll", FastZone(start, 21, 27))
	for i := range 27 {
		instant := start.Add(time.Duration(i)*time.Second + time.Second/2)
		if got, want := instant.In(zone).Hour(), (21+i)%24; got != want {
			t.Errorf("after %v, got hour %d, want %d", instant.Sub(start), got, want)
		}
	}
}
