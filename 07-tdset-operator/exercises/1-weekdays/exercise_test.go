//go:build check || solution

// These tests check what At promises: first one instant at a time, then against a brute-force
// search through each quarter of an hour of several weeks, in zones whose clocks change in these
// weeks.
//
// As given, At treats all days alike. `workshop test` checks these failures:
//
// fails: TestWhichWindow/a day on which the window doesn't begin
// says: got window 0 until Sat 2025-06-07 17:00 UTC; want no window until Mon 2025-06-09 09:00 UTC
//
// fails: TestWhichWindow/a window past midnight, in the morning of its day
// says: got window 0 until Fri 2025-06-06 06:00 UTC; want no window until Fri 2025-06-06 22:00 UTC
//
// fails: TestWhichWindow/a window up to midnight, with an end of 24
// says: got no window until Sat 2025-06-07 19:00 UTC; want no window until Fri 2025-06-13 19:00 UTC
//
// fails: TestWhichWindow/two overlapping windows, the first one on another day
// says: got window 0 until Tue 2025-06-10 17:00 UTC; want window 1 until Tue 2025-06-10 17:00 UTC
//
// fails: TestWhichWindow/another day in the TDSet's zone
// says: got window 0 forever; want window 0 until Tue 2025-06-10 00:00 JST
//
// fails: TestHowLong/over the weekend
// says: got no window until Sat 2025-06-07 09:00 UTC; want no window until Mon 2025-06-09 09:00 UTC
//
// fails: TestHowLong/a week, except for an hour
// says: got no window until Thu 2025-06-05 09:00 UTC; want no window until Wed 2025-06-11 09:00 UTC
//
// fails: TestHowLong/over the midnights of a working week
// says: got window 0 forever; want window 0 until Sat 2025-06-07 00:00 UTC
//
// fails: TestHowLong/until another window becomes active
// says: got window 0 forever; want window 1 until Sat 2025-06-07 00:00 UTC
//
// fails: TestHowLong/two weeks, because the window's only hour is skipped
// says: got no window until Mon 2025-03-24 02:00 CET; want no window until Sun 2025-04-06 02:00 CEST
//
// fails: TestHowLong/over a day of 25 hours
// says: got window 0 forever; want window 0 until Mon 2025-10-27 00:00 CET
//
// fails: TestBruteForce/in UTC
// says: got window 1 until Mon 2025-05-19 04:00 UTC; want no window until Tue 2025-05-20 04:00 UTC
//
// fails: TestBruteForce/where clocks are set forward
// says: got window 1 until Mon 2025-03-17 04:00 CET; want no window until Tue 2025-03-18 04:00 CET
//
// fails: TestBruteForce/where clocks are set back
// says: got window 1 until Mon 2025-10-20 04:00 EDT; want no window until Tue 2025-10-21 04:00 EDT
//
// fails: TestBruteForce/where half an hour is skipped
// says: got window 1 until Mon 2025-09-22 04:00 +1030; want no window until Tue 2025-09-23 04:00 +1030
//
// fails: TestBruteForce/where half an hour is repeated
// says: got window 1 until Mon 2025-03-24 04:00 +11; want no window until Tue 2025-03-25 04:00 +11
//
// fails: TestBruteForce/where a day begins at 01:00
// says: got window 1 until Mon 2026-08-24 04:00 -04; want no window until Tue 2026-08-25 04:00 -04
//
// fails: TestBruteForce/where hours begin at a quarter past
// says: got window 1 until Mon 2025-05-19 04:00 +0545; want no window until Tue 2025-05-20 04:00 +0545
//
// fails: TestBruteForce/where a Friday is skipped
// says: got window 1 until Mon 2011-12-19 04:00 -10; want no window until Tue 2011-12-20 04:00 -10

package weekdays

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

func TestWhichWindow(t *testing.T) {
	for sentence, test := range map[string]situation{
		"a window without days is active every day": {
			windows: "9-17",
			at:      "Sun 2025-06-08 09:00",
			want:    "window 0 until Sun 2025-06-08 17:00 UTC",
		},
		"a day on which the window begins": {
			windows: "Mon,Tue,Wed,Thu,Fri 9-17",
			at:      "Fri 2025-06-06 10:00",
			want:    "window 0 until Fri 2025-06-06 17:00 UTC",
		},
		"a day on which the window doesn't begin": {
			windows: "Mon,Tue,Wed,Thu,Fri 9-17",
			at:      "Sat 2025-06-07 10:00",
			want:    "no window until Mon 2025-06-09 09:00 UTC",
		},
		"a window past midnight, in the evening of its day": {
			windows: "Fri 22-6",
			at:      "Fri 2025-06-06 23:00",
			want:    "window 0 until Sat 2025-06-07 06:00 UTC",
		},
		"a window past midnight, in the morning after its day": {
			windows: "Fri 22-6",
			at:      "Sat 2025-06-07 05:59",
			want:    "window 0 until Sat 2025-06-07 06:00 UTC",
			why:     "the window began on Friday",
		},
		"a window past midnight, in the morning of its day": {
			windows: "Fri 22-6",
			at:      "Fri 2025-06-06 03:00",
			want:    "no window until Fri 2025-06-06 22:00 UTC",
			why:     "in this night, the window would have begun on Thursday",
		},
		"a window past midnight, in the morning after a Saturday": {
			windows: "Sat 22-6",
			at:      "Sun 2025-06-08 03:00",
			want:    "window 0 until Sun 2025-06-08 06:00 UTC",
			why:     "Sunday comes after Saturday (6), although its number in Go is 0",
		},
		"a window past midnight, in the morning after a Sunday": {
			windows: "Sun 22-6",
			at:      "Mon 2025-06-09 03:00",
			want:    "window 0 until Mon 2025-06-09 06:00 UTC",
			why:     "Sunday (0 in Go) comes before Monday (1)",
		},
		"a window up to midnight, with an end of 0": {
			windows: "Fri 19-0",
			at:      "Fri 2025-06-06 23:59",
			want:    "window 0 until Sat 2025-06-07 00:00 UTC",
		},
		"a window up to midnight, with an end of 24": {
			windows: "Fri 19-24",
			at:      "Sat 2025-06-07 00:00",
			want:    "no window until Fri 2025-06-13 19:00 UTC",
		},
		"two overlapping windows on the same day": {
			windows: "Mon,Tue 12-14; Tue,Wed 9-17",
			at:      "Tue 2025-06-10 12:00",
			want:    "window 0 until Tue 2025-06-10 14:00 UTC",
			why:     "the first window in the list counts",
		},
		"two overlapping windows, the first one on another day": {
			windows: "Mon 9-17; 9-17",
			at:      "Tue 2025-06-10 12:00",
			want:    "window 1 until Tue 2025-06-10 17:00 UTC",
			why:     "Window is an index into all of schedulingConfig",
		},
		"two overlapping windows, the first one since the day before": {
			windows: "Fri 22-6; Sat 0-24",
			at:      "Sat 2025-06-07 03:00",
			want:    "window 0 until Sat 2025-06-07 06:00 UTC",
			why:     "the first window in the list counts, even if it began the day before",
		},
		"another day in the TDSet's zone": {
			windows: "Mon 0-24",
			zone:    "Asia/Tokyo",
			at:      "Mon 2025-06-09 00:00",
			want:    "window 0 until Tue 2025-06-10 00:00 JST",
			why:     "in UTC it is still Sunday",
		},
	} {
		t.Run(sentence, func(t *testing.T) { check(t, test) })
	}
}

func TestHowLong(t *testing.T) {
	for sentence, test := range map[string]situation{
		"over the weekend": {
			windows: "Mon,Tue,Wed,Thu,Fri 9-17",
			at:      "Fri 2025-06-06 17:00",
			want:    "no window until Mon 2025-06-09 09:00 UTC",
		},
		"a week, except for an hour": {
			windows: "Wed 9-10",
			at:      "Wed 2025-06-04 10:00",
			want:    "no window until Wed 2025-06-11 09:00 UTC",
		},
		"over the midnights of a working week": {
			windows: "Mon,Tue,Wed,Thu,Fri 0-24",
			at:      "Tue 2025-06-03 12:00",
			want:    "window 0 until Sat 2025-06-07 00:00 UTC",
			why:     "it is a transition when another window becomes active, not when another day begins",
		},
		"until another window becomes active": {
			windows: "Sat,Sun 0-24; 0-24",
			at:      "Fri 2025-06-06 12:00",
			want:    "window 1 until Sat 2025-06-07 00:00 UTC",
		},
		"forever, in a window that is active all week": {
			windows: "Mon,Tue,Wed,Thu,Fri,Sat,Sun 0-24",
			at:      "Fri 2025-06-06 12:00",
			want:    "window 0 forever",
		},
		"forever, in a window before one that is never active": {
			windows: "0-24; Mon 9-17",
			at:      "Mon 2025-06-09 12:00",
			want:    "window 0 forever",
		},
		"forever, without windows": {
			at:   "Fri 2025-06-06 12:00",
			want: "no window forever",
		},
		"two weeks, because the window's only hour is skipped": {
			windows: "Sun 2-3",
			zone:    "Europe/Berlin",
			at:      "Sun 2025-03-23 03:00",
			want:    "no window until Sun 2025-04-06 02:00 CEST",
			why:     "on March 30 there is no hour from 2 to 3",
		},
		"over a day of 25 hours": {
			windows: "Sun 0-24",
			zone:    "Europe/Berlin",
			at:      "Sun 2025-10-26 00:30",
			want:    "window 0 until Mon 2025-10-27 00:00 CET",
		},
		"the night after a day of 23 hours": {
			windows: "Sun 22-6",
			zone:    "Europe/Berlin",
			at:      "Mon 2025-03-31 00:30",
			want:    "window 0 until Mon 2025-03-31 06:00 CEST",
			why:     "24 hours before that, it was still Saturday",
		},
		"the night after a day that has no midnight": {
			windows: "Sun 22-6",
			zone:    "America/Santiago",
			at:      "Mon 2026-09-07 00:30",
			want:    "window 0 until Mon 2026-09-07 06:00 -03",
			why:     "on Sunday there was no 00:30: there, time.Date and AddDate return a time on Saturday",
		},
	} {
		t.Run(sentence, func(t *testing.T) { check(t, test) })
	}
}

// situation is one question for At, and the expected answer.
type situation struct {
	windows string // such as "Mon,Tue 22-6; 9-17"
	zone    string // empty means UTC
	at      string // what the wall clock shows
	want    string
	why     string
}

// check calls At, and compares its result with the expected one.
func check(t *testing.T, s situation) {
	t.Helper()
	spec := specOf(t, s.windows, s.zone)
	instant, err := time.ParseInLocation(wallClock, s.at, spec.Zone)
	if err != nil || instant.Format(wallClock) != s.at {
		t.Fatalf("the test's time doesn't exist: %q, %v", s.at, err)
	}
	if got := ask(spec, instant.UTC()); got != s.want {
		t.Errorf("windows [%s], in %s at %s: got %s; want %s", s.windows, spec.Zone, s.at, got, s.want)
		if s.why != "" {
			t.Log("Why: " + s.why)
		}
	}
}

// TestBruteForce calls At for many instants of four weeks, and compares the results with those of a
// search through every quarter of an hour of these and the next four weeks.
func TestBruteForce(t *testing.T) {
	for sentence, test := range map[string]struct {
		zone string
		from string // a date
	}{
		"in UTC":                              {"UTC", "2025-05-19"},
		"where clocks are set forward":        {"Europe/Berlin", "2025-03-17"},
		"where clocks are set back":           {"America/New_York", "2025-10-20"},
		"where half an hour is skipped":       {"Australia/Lord_Howe", "2025-09-22"},
		"where half an hour is repeated":      {"Australia/Lord_Howe", "2025-03-24"},
		"where a day begins at 01:00":         {"America/Santiago", "2026-08-24"},
		"where hours begin at a quarter past": {"Asia/Kathmandu", "2025-05-19"},
		"where a Friday is skipped":           {"Pacific/Apia", "2011-12-19"},
	} {
		t.Run(sentence, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 1)) // the same in each run
			for range 8 {
				windows := randomWindows(random)
				spec := specOf(t, windows, test.zone)
				from, err := time.ParseInLocation(time.DateOnly, test.from, spec.Zone)
				if err != nil {
					t.Fatal(err)
				}
				weeks := bruteForce(spec, from)
				for at := 0; at < 4*7*24*4; at += 9 {
					instant := from.Add(time.Duration(at)*quarter + time.Duration(at)*time.Second/4) // still in the same quarter
					if got, want := ask(spec, instant), inWords(weeks[at]); got != want {
						t.Fatalf("windows [%s], in %s at %s: got %s; want %s", windows, spec.Zone, instant.Format(wallClock+":05 MST"), got, want)
					}
				}
			}
		})
	}
}

const quarter = 15 * time.Minute

// bruteForce returns what spec asks for in each quarter of an hour of eight weeks. In no zone does
// anything change within a quarter.
func bruteForce(spec *Spec, from time.Time) []schedule.State {
	var belongs [7 * 24]int // the window of each hour of the week
	for hour := range belongs {
		belongs[hour] = schedule.None
	}
	for i, window := range slices.Backward(spec.SchedulingConfig) { // backward, so that the first window overwrites the others
		for day := range time.Saturday + 1 {
			if !window.beginsOn(day) {
				continue
			}
			end := window.EndTime
			if end <= window.StartTime {
				end += 24
			}
			for hour := window.StartTime; hour < end; hour++ {
				belongs[(int32(day)*24+hour)%(7*24)] = i
			}
		}
	}
	all := make([]schedule.State, 8*7*24*4)
	for at := range all {
		local := from.Add(time.Duration(at) * quarter)
		window := belongs[int(local.Weekday())*24+local.Hour()]
		all[at] = schedule.State{Replicas: replicasOf(window), Window: window}
	}
	for at := len(all) - 2; at >= 0; at-- {
		if all[at].Next = all[at+1].Next; all[at].Window != all[at+1].Window {
			all[at].Next = from.Add(time.Duration(at+1) * quarter)
		}
	}
	return all
}

// ask calls At, and describes its result in words.
func ask(spec *Spec, instant time.Time) (answer string) {
	defer func() {
		if found := recover(); found != nil {
			answer = fmt.Sprintf("a panic: %v", found)
			if place := regexp.MustCompile(`\bexercise\.go:\d+`).FindString(string(debug.Stack())); place != "" {
				answer += ", at " + place
			}
		}
	}()
	return inWords(At(spec, instant))
}

// wallClock is the layout of what a wall clock shows.
const wallClock = "Mon 2006-01-02 15:04"

// inWords says which window is active, and until when. It mentions the replicas only if they aren't
// that window's.
func inWords(state schedule.State) string {
	words := "no window"
	if state.Window != schedule.None {
		words = fmt.Sprintf("window %d", state.Window)
	}
	if state.Replicas != replicasOf(state.Window) {
		words += fmt.Sprintf(", with %d replicas and not %d,", state.Replicas, replicasOf(state.Window))
	}
	if state.Next.IsZero() {
		return words + " forever"
	}
	layout := wallClock + " MST"
	if state.Next.Second() != 0 || state.Next.Nanosecond() != 0 {
		layout = wallClock + ":05.999999999 MST"
	}
	return words + " until " + state.Next.Format(layout)
}

// replicasOf returns the replicas that specOf gives to a window, or to None.
func replicasOf(window int) int32 {
	return int32(window) + 10
}

// specOf parses windows such as "Mon,Tue 22-6; 9-17".
func specOf(t *testing.T, windows, zone string) *Spec {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	spec := &Spec{DefaultReplica: replicasOf(schedule.None), Zone: location}
	for i, words := range strings.Split(windows, "; ") {
		if words == "" {
			continue
		}
		window := Window{Scheduling: schedulev1.Scheduling{Replica: replicasOf(i)}}
		days, hours, found := strings.Cut(words, " ")
		if !found {
			days, hours = "", words
		}
		if days != "" {
			for day := range strings.SplitSeq(days, ",") {
				window.Days = append(window.Days, Day(day))
			}
		}
		if _, err := fmt.Sscanf(hours, "%d-%d", &window.StartTime, &window.EndTime); err != nil {
			t.Fatalf("the test's windows are invalid: %q", windows)
		}
		spec.SchedulingConfig = append(spec.SchedulingConfig, window)
	}
	return spec
}

// randomWindows returns one to three windows, in the form that specOf parses.
func randomWindows(random *rand.Rand) string {
	var windows []string
	for range 1 + random.IntN(3) {
		var days []string
		for day := range time.Saturday + 1 {
			if random.IntN(4) == 0 {
				days = append(days, day.String()[:3])
			}
		}
		start := random.IntN(24)
		window := fmt.Sprintf("%d-%d", start, (start+1+random.IntN(23))%24)
		if len(days) > 0 {
			window = strings.Join(days, ",") + " " + window
		}
		windows = append(windows, window)
	}
	return strings.Join(windows, "; ")
}
