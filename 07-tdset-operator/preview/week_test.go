// Weeks with days that don't have 24 hours. The golden files show what is printed.

package main

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// Weeks in which clocks are set: how many minutes their fourth day has, which hours of it haven't
// sixty, and the day's description.
func TestDaysOnWhichClocksAreSet(t *testing.T) {
	for sentence, test := range map[string]struct {
		zone        string
		from        string
		wantMinutes int
		wantHours   map[int]int // minutes
		wantChanges []string
	}{
		"none": {"Europe/Berlin", "2026-01-01", 24 * 60, nil, nil},
		"forward in Berlin": {"Europe/Berlin", "2026-03-26", 23 * 60, map[int]int{2: 0}, []string{
			"Sun 2026-03-29: clocks are set forward from 02:00 +01:00 to 03:00 +02:00",
		}},
		"back in Berlin": {"Europe/Berlin", "2026-10-22", 25 * 60, map[int]int{2: 120}, []string{
			"Sun 2026-10-25: clocks are set back from 03:00 +02:00 to 02:00 +01:00",
		}},
		"forward in New York": {"America/New_York", "2026-03-05", 23 * 60, map[int]int{2: 0}, []string{
			"Sun 2026-03-08: clocks are set forward from 02:00 -05:00 to 03:00 -04:00",
		}},
		"back in Sydney": {"Australia/Sydney", "2026-04-02", 25 * 60, map[int]int{2: 120}, []string{
			"Sun 2026-04-05: clocks are set back from 03:00 +11:00 to 02:00 +10:00",
		}},
		"forward by half an hour": {"Australia/Lord_Howe", "2026-10-01", 23*60 + 30, map[int]int{2: 30}, []string{
			"Sun 2026-10-04: clocks are set forward from 02:00 +10:30 to 02:30 +11:00",
		}},
		"back by half an hour": {"Australia/Lord_Howe", "2026-04-02", 24*60 + 30, map[int]int{1: 90}, []string{
			"Sun 2026-04-05: clocks are set back from 02:00 +11:00 to 01:30 +10:30",
		}},
		"back by two hours": {"Antarctica/Troll", "2026-10-22", 26 * 60, map[int]int{1: 120, 2: 120}, []string{
			"Sun 2026-10-25: clocks are set back from 03:00 +02:00 to 01:00 +00:00",
		}},
		"forward at midnight": {"America/Sao_Paulo", "2018-11-01", 23 * 60, map[int]int{0: 0}, []string{
			"Sun 2018-11-04: clocks are set forward from 00:00 -03:00 to 01:00 -02:00",
		}},
		"back to yesterday": {"America/St_Johns", "2010-11-04", 24*60 + 1, map[int]int{0: 61}, []string{
			"Sun 2010-11-07: clocks are set back from 00:01 -02:30 to Sat 2010-11-06 23:01 -03:30",
		}},
		"over a day": {"Pacific/Apia", "2011-12-27", 0, everyHour(0), []string{
			"Fri 2011-12-30: clocks are set forward from 00:00 -10:00 to Sat 2011-12-31 00:00 +14:00",
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			week := of(t, &schedulev2.TDSetSpec{TimeZone: test.zone}, test.from)
			minutes := 0
			for hour, got := range week.Days[3].Hours {
				minutes += got.Minutes
				want, special := test.wantHours[hour]
				if !special {
					want = 60
				}
				if got.Minutes != want {
					t.Errorf("the hour %d has %d minutes, want %d", hour, got.Minutes, want)
				}
			}
			if minutes != test.wantMinutes {
				t.Errorf("the day has %d minutes, want %d", minutes, test.wantMinutes)
			}
			var changes []string
			for _, change := range week.Changes {
				changes = append(changes, change.String())
			}
			if !slices.Equal(changes, test.wantChanges) {
				t.Errorf("it says %q, want %q", changes, test.wantChanges)
			}
		})
	}
}

func TestTransitionsOfAWeek(t *testing.T) {
	spec := &schedulev2.TDSetSpec{
		TimeZone: "Asia/Kolkata", DefaultReplicas: 1,
		Windows: []schedulev2.Window{{Name: "22-0", Start: "22:00", End: "00:00", Replicas: 3}, {Name: "0-6", Start: "00:00", End: "06:00", Replicas: 3}},
	}
	week := of(t, spec, "2028-02-28") // of a leap year

	if week.Begin.Window != 1 || week.Begin.Replicas != 3 {
		t.Errorf("it begins with window %d and %d replicas, want 1 and 3", week.Begin.Window, week.Begin.Replicas)
	}
	var want []time.Time
	for _, date := range []string{"02-28", "02-29", "03-01", "03-02", "03-03", "03-04", "03-05"} {
		for _, hour := range []string{"00", "06", "22"} {
			at, err := time.Parse(time.RFC3339, "2028-"+date+"T"+hour+":00:00+05:30")
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, at)
		}
	}
	want = want[1:] // with that one it begins
	var got []time.Time
	for i, transition := range week.Transitions {
		got = append(got, transition.At)
		if window := []int{schedule.None, 0, 1}[i%3]; transition.To.Window != window {
			t.Errorf("at %s the window is %d, want %d", transition.At, transition.To.Window, window)
		}
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("transitions (-want, +got):\n%s", difference)
	}
}

func TestAWeekOfAnUnknownZone(t *testing.T) {
	if week, err := weekOf(&schedulev2.TDSetSpec{TimeZone: "Mars/Olympus_Mons"}, time.Time{}); err == nil {
		t.Errorf("there is one: %v", week)
	}
}

func of(t *testing.T, spec *schedulev2.TDSetSpec, from string) *Week {
	t.Helper()
	date, err := time.Parse(time.DateOnly, from)
	if err != nil {
		t.Fatal(err)
	}
	week, err := weekOf(spec, date)
	if err != nil {
		t.Fatal(err)
	}
	return week
}

func everyHour(minutes int) map[int]int {
	all := map[int]int{}
	for hour := range 24 {
		all[hour] = minutes
	}
	return all
}
