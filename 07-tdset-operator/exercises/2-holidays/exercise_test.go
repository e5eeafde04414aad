//go:build check || solution

// These tests check what At and Validate promise. They call At for one instant at a time, and then
// compare it with a brute-force search through each quarter of an hour of some weeks. Both use the
// chapter's At for the windows.
//
// As given, At uses the dates and midnights of UTC, and looks at no other day. `workshop test`
// checks these failures:
//
// fails: TestAt/on the evening before, when no window is active anyway
// says: it says no window until 2026-12-25 09:00 UTC; want no window until 2026-12-26 09:00 UTC
//
// fails: TestAt/on the evening before, in a window
// says: it says window 0 until 2026-12-25 06:00 UTC; want window 0 until 2026-12-25 00:00 UTC
//
// fails: TestAt/at noon of it
// says: it says no window until 2026-12-26 00:00 UTC; want no window until 2026-12-26 09:00 UTC
//
// fails: TestAt/on the first of two
// says: it says no window until 2026-12-26 00:00 UTC; want no window until 2026-12-27 00:00 UTC
//
// fails: TestAt/in the middle of two weeks of them
// says: it says no window until 2026-12-30 00:00 UTC; want no window until 2027-01-07 09:00 UTC
//
// fails: TestAt/before two that aren't in order
// says: it says window 0 forever; want window 0 until 2026-12-25 00:00 UTC
//
// fails: TestAt/a year before
// says: it says window 0 forever; want window 0 until 2026-12-25 00:00 UTC
//
// fails: TestAt/where there are no windows
// says: it says no window until 2026-12-26 00:00 UTC; want no window forever
//
// fails: TestAt/it has begun in the zone, and not in UTC
// says: it says window 0 forever; want no window until 2026-12-26 00:00 JST
//
// fails: TestAt/it has begun in UTC, and not in the zone
// says: it says no window until 2026-12-26 00:00 UTC; want window 0 until 2026-12-25 00:00 EST
//
// fails: TestAt/it has 23 hours
// says: it says window 0 forever; want no window until 2026-03-30 00:00 CEST
//
// fails: TestAt/it has 25 hours
// says: it says window 0 forever; want no window until 2026-10-26 00:00 CET
//
// fails: TestAt/it has no midnight
// says: it says no window until 2026-09-07 00:00 UTC; want window 0 until 2026-09-06 01:00 -03
//
// fails: TestAt/the day after it has no midnight
// says: it says window 0 forever; want no window until 2026-09-06 01:00 -03
//
// fails: TestAt/it has two midnights
// says: it says window 0 forever; want window 0 until 2026-10-25 00:00 +00
//
// fails: TestBruteForce/in UTC
// says: it says window 0 until 2026-12-25 10:00 UTC; want window 0 until 2026-12-25 00:00 UTC
//
// fails: TestBruteForce/where clocks are set forward
// says: it says window 0 until 2026-03-27 10:00 CET; want window 0 until 2026-03-27 00:00 CET
//
// fails: TestBruteForce/where clocks are set back
// says: it says window 0 until 2026-10-30 10:00 EDT; want window 0 until 2026-10-30 00:00 EDT
//
// fails: TestBruteForce/where a day begins at one
// says: it says window 0 until 2026-09-04 10:00 -04; want window 0 until 2026-09-04 00:00 -04
//
// fails: TestBruteForce/where the last hour comes twice
// says: it says window 0 until 2026-04-03 10:00 -03; want window 0 until 2026-04-03 00:00 -03
//
// fails: TestBruteForce/where the first hour comes twice
// says: it says window 0 until 2026-10-23 10:00 +00; want window 0 until 2026-10-23 00:00 +00
//
// fails: TestBruteForce/where hours begin at a quarter past
// says: it says window 0 until 2026-12-25 10:00 +0545; want window 0 until 2026-12-25 00:00 +0545
//
// fails: TestBruteForce/where a Friday is skipped
// says: it says window 0 until 2011-12-29 10:00 -10; want window 0 until 2011-12-29 00:00 -10
//
// fails: TestValidate/a date as others write it
// says: it refuses nothing; want spec.holidays[1]: Invalid value "26.12.2026"
//
// fails: TestValidate/a date that isn't written in full
// says: it refuses nothing; want spec.holidays[0]: Invalid value "2026-1-6"
//
// fails: TestValidate/a date with a time
// says: it refuses nothing; want spec.holidays[0]: Invalid value "2026-12-25T00:00:00Z"
//
// fails: TestValidate/a blank after it
// says: it refuses nothing; want spec.holidays[0]: Invalid value "2026-12-25 "
//
// fails: TestValidate/nothing
// says: it refuses nothing; want spec.holidays[0]: Invalid value ""
//
// fails: TestValidate/a day that its month doesn't have
// says: it refuses nothing; want spec.holidays[0]: Invalid value "2027-02-29"
//
// fails: TestValidate/a date twice
// says: it refuses nothing; want spec.holidays[2]: Duplicate value "2026-12-25"
//
// fails: TestValidate/all that can be wrong
// says: it refuses spec.timeZone: Invalid value "Europe/Atlantis"; want spec.holidays[0]: Invalid value "Christmas", spec.holi

package holidays

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

func TestAt(t *testing.T) {
	for sentence, test := range map[string]struct {
		windows  string // such as "22-6; 9-17"
		holidays string // separated by spaces
		zone     string // empty means UTC
		at       string // what the wall clock shows
		want     string
		why      string
	}{
		"there are no holidays": {
			windows: "9-17",
			at:      "2026-12-25 12:00",
			want:    "window 0 until 2026-12-25 17:00 UTC",
		},
		"on the day before": {
			windows:  "9-17",
			holidays: "2026-12-25",
			at:       "2026-12-24 12:00",
			want:     "window 0 until 2026-12-24 17:00 UTC",
		},
		"on the evening before, when no window is active anyway": {
			windows:  "9-17",
			holidays: "2026-12-25",
			at:       "2026-12-24 18:00",
			want:     "no window until 2026-12-26 09:00 UTC",
			why:      "at nine it is a holiday, and at midnight nothing changes",
		},
		"on the evening before, in a window": {
			windows:  "22-6",
			holidays: "2026-12-25",
			at:       "2026-12-24 23:00",
			want:     "window 0 until 2026-12-25 00:00 UTC",
			why:      "the window is cut off at midnight, which therefore is a transition",
		},
		"at the first instant of it": {
			windows:  "0-24",
			holidays: "2026-12-25",
			at:       "2026-12-25 00:00",
			want:     "no window until 2026-12-26 00:00 UTC",
		},
		"at noon of it": {
			windows:  "9-17",
			holidays: "2026-12-25",
			at:       "2026-12-25 12:00",
			want:     "no window until 2026-12-26 09:00 UTC",
			why:      "at midnight the holiday is over, and no window begins: nothing changes",
		},
		"on the evening of it, when a window would begin": {
			windows:  "22-6",
			holidays: "2026-12-25",
			at:       "2026-12-25 23:00",
			want:     "no window until 2026-12-26 00:00 UTC",
		},
		"at the first instant after it": {
			windows:  "22-6",
			holidays: "2026-12-25",
			at:       "2026-12-26 00:00",
			want:     "window 0 until 2026-12-26 06:00 UTC",
		},
		"on the first of two": {
			windows:  "0-24",
			holidays: "2026-12-25 2026-12-26",
			at:       "2026-12-25 12:00",
			want:     "no window until 2026-12-27 00:00 UTC",
			why:      "one holiday ends where the next one begins: nothing changes",
		},
		"in the middle of two weeks of them": {
			windows: "9-17",
			holidays: "2026-12-24 2026-12-25 2026-12-26 2026-12-27 2026-12-28 2026-12-29 2026-12-30 2026-12-31 " +
				"2027-01-01 2027-01-02 2027-01-03 2027-01-04 2027-01-05 2027-01-06",
			at:   "2026-12-29 12:00",
			want: "no window until 2027-01-07 09:00 UTC",
			why:  "one holiday ends where the next one begins, however many there are",
		},
		"before two that aren't in order": {
			windows:  "0-24",
			holidays: "2026-12-26 2026-12-25",
			at:       "2026-12-24 12:00",
			want:     "window 0 until 2026-12-25 00:00 UTC",
		},
		"a year before": {
			windows:  "0-24",
			holidays: "2026-12-25",
			at:       "2026-01-01 12:00",
			want:     "window 0 until 2026-12-25 00:00 UTC",
			why:      "the window never ends, but for the holiday",
		},
		"after the last one": {
			windows:  "0-24",
			holidays: "2026-12-25",
			at:       "2026-12-26 12:00",
			want:     "window 0 forever",
		},
		"a year before, where there are no windows": {
			holidays: "2026-12-25",
			at:       "2026-01-01 12:00",
			want:     "no window forever",
			why:      "where the holiday changes nothing, it is no transition, be it tomorrow or in a year",
		},
		"where there are no windows": {
			holidays: "2026-12-25",
			at:       "2026-12-25 12:00",
			want:     "no window forever",
		},
		"on a leap day": {
			windows:  "0-24",
			holidays: "2028-02-29",
			at:       "2028-02-29 12:00",
			want:     "no window until 2028-03-01 00:00 UTC",
		},
		"it has begun in the zone, and not in UTC": {
			windows:  "0-24",
			holidays: "2026-12-25",
			zone:     "Asia/Tokyo",
			at:       "2026-12-25 08:00",
			want:     "no window until 2026-12-26 00:00 JST",
		},
		"it has begun in UTC, and not in the zone": {
			windows:  "0-24",
			holidays: "2026-12-25",
			zone:     "America/New_York",
			at:       "2026-12-24 20:00",
			want:     "window 0 until 2026-12-25 00:00 EST",
		},
		"it has 23 hours": {
			windows:  "0-24",
			holidays: "2026-03-29",
			zone:     "Europe/Berlin",
			at:       "2026-03-29 00:30",
			want:     "no window until 2026-03-30 00:00 CEST",
		},
		"it has 25 hours": {
			windows:  "0-24",
			holidays: "2026-10-25",
			zone:     "Europe/Berlin",
			at:       "2026-10-25 00:30",
			want:     "no window until 2026-10-26 00:00 CET",
		},
		"it has no midnight": {
			windows:  "0-24",
			holidays: "2026-09-06",
			zone:     "America/Santiago",
			at:       "2026-09-05 22:00",
			want:     "window 0 until 2026-09-06 01:00 -03",
			why:      "clocks go from 23:59 to 01:00. Asked for that midnight, time.Date says 23:00 of the day before",
		},
		"the day after it has no midnight": {
			windows:  "0-24",
			holidays: "2026-09-05",
			zone:     "America/Santiago",
			at:       "2026-09-05 23:30",
			want:     "no window until 2026-09-06 01:00 -03",
			why:      "clocks go from 23:59 to 01:00. Asked for that midnight, time.Date says 23:00 of the day before",
		},
		"it has two midnights": {
			windows:  "0-24",
			holidays: "2026-10-25",
			zone:     "Atlantic/Azores",
			at:       "2026-10-24 23:30",
			want:     "window 0 until 2026-10-25 00:00 +00",
			why:      "an hour after the first midnight comes the second: the holiday begins with the first",
		},
		"it isn't a date": {
			windows:  "0-24",
			holidays: "Christmas",
			at:       "2026-12-25 12:00",
			want:     "window 0 forever",
		},
		"nobody knows the zone": {
			holidays: "2026-12-25",
			zone:     "Europe/Atlantis",
			at:       "2026-12-25 12:00",
			want:     `the error timeZone "Europe/Atlantis": unknown time zone: use an IANA name, such as Europe/Berlin or UTC`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			spec := specOf(t, test.windows, test.zone, strings.Fields(test.holidays))
			zone, err := schedule.Location(&spec.TDSetSpec)
			if err != nil {
				zone = time.UTC // the instant doesn't matter then
			}
			instant, err := time.ParseInLocation(wallClock, test.at, zone)
			if err != nil || instant.Format(wallClock) != test.at {
				t.Fatalf("the test asks about a time that there isn't: %q, %v", test.at, err)
			}
			if got := ask(spec, instant.UTC()); got != test.want {
				t.Errorf("windows [%s], holidays [%s], in %s at %s: it says %s; want %s",
					test.windows, test.holidays, zone, test.at, got, test.want)
				if test.why != "" {
					t.Log("Why: " + test.why)
				}
			}
		})
	}
}

// TestBruteForce calls At for many instants of two weeks, and compares the results with those of a
// search through every quarter of an hour of these and the next two weeks.
func TestBruteForce(t *testing.T) {
	for sentence, test := range map[string]struct {
		zone string
		from string // a date
	}{
		"in UTC":                              {"UTC", "2026-12-20"},
		"where clocks are set forward":        {"Europe/Berlin", "2026-03-22"},
		"where clocks are set back":           {"America/New_York", "2026-10-25"},
		"where a day begins at one":           {"America/Santiago", "2026-08-30"},
		"where the last hour comes twice":     {"America/Santiago", "2026-03-29"},
		"where the first hour comes twice":    {"Atlantic/Azores", "2026-10-18"},
		"where hours begin at a quarter past": {"Asia/Kathmandu", "2026-12-20"},
		"where a Friday is skipped":           {"Pacific/Apia", "2011-12-24"},
	} {
		t.Run(sentence, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 2)) // the same in each run
			for range 3 {
				date, err := time.Parse(time.DateOnly, test.from)
				if err != nil {
					t.Fatal(err)
				}
				var holidays []string
				for range 4 {
					holidays = append(holidays, date.AddDate(0, 0, 5+random.IntN(5)).Format(time.DateOnly))
				}
				slices.Sort(holidays)
				holidays = slices.Compact(holidays)
				start := random.IntN(24)
				windows := []string{"0-24", fmt.Sprintf("%d-%d", start, (start+1+random.IntN(23))%24)}[random.IntN(2)]
				spec := specOf(t, windows, test.zone, holidays)

				zone, err := schedule.Location(&spec.TDSetSpec)
				if err != nil {
					t.Fatal(err)
				}
				from := date.In(zone)
				weeks := bruteForce(t, spec, from)
				for at := 0; at < len(weeks)/2; at += 17 {
					instant := from.Add(time.Duration(at)*quarter + time.Duration(at)*time.Second/2) // still in the same quarter
					if got, want := ask(spec, instant), inWords(weeks[at], nil); got != want {
						t.Fatalf("windows [%s], holidays %v, in %s at %s: it says %s; want %s",
							windows, holidays, zone, instant.Format(wallClock+":05 MST"), got, want)
					}
				}
			}
		})
	}
}

const quarter = 15 * time.Minute

// bruteForce returns what spec asks for in each quarter of an hour of four weeks. In no zone does
// anything change within a quarter.
func bruteForce(t *testing.T, spec *Spec, from time.Time) []schedule.State {
	t.Helper()
	all := make([]schedule.State, 4*7*24*4)
	for at := range all {
		instant := from.Add(time.Duration(at) * quarter)
		state, err := schedule.At(&spec.TDSetSpec, instant)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(spec.Holidays, instant.Format(time.DateOnly)) {
			state.Window = schedule.None
		}
		all[at] = schedule.State{Replicas: replicasOf(state.Window), Window: state.Window}
	}
	for at := len(all) - 2; at >= 0; at-- {
		if all[at].Next = all[at+1].Next; all[at].Window != all[at+1].Window {
			all[at].Next = from.Add(time.Duration(at+1) * quarter)
		}
	}
	return all
}

func TestValidate(t *testing.T) {
	for sentence, test := range map[string]struct {
		holidays []string
		zone     string
		want     []string // field, type, value
		why      string
	}{
		"dates": {
			holidays: []string{"2026-12-26", "2026-12-25", "2028-02-29", "1999-12-31"},
			why:      "they needn't be in order, and past ones do no harm: what was right once stays so",
		},
		"no holidays": {},
		"a date as others write it": {
			holidays: []string{"2026-12-25", "26.12.2026"},
			want:     []string{`spec.holidays[1]: Invalid value "26.12.2026"`},
		},
		"a date that isn't written in full": {
			holidays: []string{"2026-1-6"},
			want:     []string{`spec.holidays[0]: Invalid value "2026-1-6"`},
			why:      "who has two ways to write a date finds no duplicates",
		},
		"a date with a time": {
			holidays: []string{"2026-12-25T00:00:00Z"},
			want:     []string{`spec.holidays[0]: Invalid value "2026-12-25T00:00:00Z"`},
		},
		"a blank after it": {
			holidays: []string{"2026-12-25 "},
			want:     []string{`spec.holidays[0]: Invalid value "2026-12-25 "`},
		},
		"nothing": {
			holidays: []string{""},
			want:     []string{`spec.holidays[0]: Invalid value ""`},
		},
		"a day that its month doesn't have": {
			holidays: []string{"2027-02-29"},
			want:     []string{`spec.holidays[0]: Invalid value "2027-02-29"`},
			why:      "2027 is no leap year. A pattern can't see that",
		},
		"a date twice": {
			holidays: []string{"2026-12-25", "2026-12-26", "2026-12-25"},
			want:     []string{`spec.holidays[2]: Duplicate value "2026-12-25"`},
		},
		"all that can be wrong": {
			holidays: []string{"Christmas", "2026-12-25", "2026-12-25", "2026-12-32"},
			zone:     "Europe/Atlantis",
			want: []string{
				`spec.timeZone: Invalid value "Europe/Atlantis"`,
				`spec.holidays[0]: Invalid value "Christmas"`,
				`spec.holidays[2]: Duplicate value "2026-12-25"`,
				`spec.holidays[3]: Invalid value "2026-12-32"`,
			},
			why: "users who fix one mistake at a time are refused once for each mistake",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			crash := caught(func() {
				for _, err := range Validate(specOf(t, "9-17", test.zone, test.holidays), field.NewPath("spec")) {
					got = append(got, fmt.Sprintf("%s: %s %q", err.Field, err.Type, err.BadValue))
					if err.Type == field.ErrorTypeInvalid && err.Detail == "" {
						t.Errorf("%s: the user reads %q, and not how a date is written", err.Field, err)
					}
				}
			})
			slices.Sort(got)
			slices.Sort(test.want)
			switch {
			case crash != "":
				t.Errorf("holidays %q: %s", test.holidays, crash)
			case !slices.Equal(got, test.want):
				t.Errorf("holidays %q: it refuses %s; want %s", test.holidays, orNothing(got), orNothing(test.want))
			}
			if t.Failed() && test.why != "" {
				t.Log("Why: " + test.why)
			}
		})
	}
}

func orNothing(refused []string) string {
	if len(refused) == 0 {
		return "nothing"
	}
	return strings.Join(refused, ", ")
}

// ask calls At, and describes its result in words.
func ask(spec *Spec, instant time.Time) (answer string) {
	given := slices.Clone(spec.Holidays)
	if crash := caught(func() { answer = inWords(At(spec, instant)) }); crash != "" {
		return "nothing: " + crash
	}
	if !slices.Equal(spec.Holidays, given) {
		return fmt.Sprintf("%s, and has changed the spec's holidays to %v (what comes from a cache stays as it is)", answer, spec.Holidays)
	}
	return answer
}

// caught calls a function, and describes its panic, if any.
func caught(call func()) (crash string) {
	defer func() {
		if found := recover(); found != nil {
			crash = fmt.Sprintf("it panicked: %v", found)
			if place := regexp.MustCompile(`\bexercise\.go:\d+`).FindString(string(debug.Stack())); place != "" {
				crash += ", at " + place
			}
		}
	}()
	call()
	return ""
}

// wallClock is the layout of what a wall clock with a calendar shows.
const wallClock = "2006-01-02 15:04"

// inWords says which window is active, and until when. It mentions the replicas only if they aren't
// that window's.
func inWords(state schedule.State, err error) string {
	if err != nil {
		return fmt.Sprintf("the error %v", err)
	}
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

// specOf parses windows such as "22-6; 9-17".
func specOf(t *testing.T, windows, zone string, holidays []string) *Spec {
	t.Helper()
	spec := &Spec{TDSetSpec: schedulev1.TDSetSpec{DefaultReplica: replicasOf(schedule.None), TimeZone: zone}, Holidays: holidays}
	for i, hours := range strings.Split(windows, "; ") {
		if hours == "" {
			continue
		}
		window := schedulev1.Scheduling{Replica: replicasOf(i)}
		if _, err := fmt.Sscanf(hours, "%d-%d", &window.StartTime, &window.EndTime); err != nil {
			t.Fatalf("the test has windows that aren't: %q", windows)
		}
		spec.SchedulingConfig = append(spec.SchedulingConfig, window)
	}
	return spec
}
