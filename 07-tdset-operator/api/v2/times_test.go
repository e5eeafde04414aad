package v2

import "testing"

func TestMinutesOf(t *testing.T) {
	for text, want := range map[string]int{"00:00": 0, "09:15": 555, "23:59": 1439, "24:00": 1440} {
		if got, err := MinutesOf(text); err != nil || got != want {
			t.Errorf("%s is %d minutes, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "9:15", "09:60", "-9:00", "24:01", "25:00", "09:1", "09:15:00", "09.15"} {
		if got, err := MinutesOf(text); err == nil {
			t.Errorf("%q is %d minutes, want an error", text, got)
		}
	}
}
