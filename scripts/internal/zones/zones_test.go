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

func TestFast(t *testing.T) {
	start := time.Date(2026, 11, 22, 17, 30, 12, 0, time.UTC)
	zone := parse(t, "Antarctica/Troll", Fast(start, 21, 27))
	for i := range 27 {
		instant := start.Add(time.Duration(i)*time.Second + time.Second/2)
		if got, want := instant.In(zone).Hour(), (21+i)%24; got != want {
			t.Errorf("after %v, got hour %d, want %d", instant.Sub(start), got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, map[string][]Change{"Europe/Berlin": {{time.Unix(0, 0), time.Hour}}}); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, map[string][]Change{"Europe": {{time.Unix(0, 0), time.Hour}}}); err == nil {
		t.Error("a zone replaced a folder, want an error")
	}
}
