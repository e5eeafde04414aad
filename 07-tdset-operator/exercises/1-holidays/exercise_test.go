//go:build check || solution

// These tests check what At and Validate promise. They call At for one instant at a time, and then
// compare it with a brute-force search through each quarter of an hour of some weeks. Both use the
// chapter's At for the windows.
//
// As given, At uses the dates and midnights of UTC, and looks at no other day. `workshop test`
// checks these failures:
//
// fails: TestAt/on the evening before a holiday, outside of all windows
// says: got no window until 2026-12-25 09:00 UTC; want no window until 2026-12-26 09:00 UTC
//
// fails: TestAt/on the evening before a holiday, in a window
// says: got window 0 until 2026-12-25 06:00 UTC; want window 0 until 2026-12-25 00:00 UTC
//
// fails: TestAt/at noon on a holiday
// says: got no window until 2026-12-26 00:00 UTC; want no window until 2026-12-26 09:00 UTC
//
// fails: TestAt/on the first of two holidays
// says: got no window until 2026-12-26 00:00 UTC; want no window until 2026-12-27 00:00 UTC
//
// fails: TestAt/in the middle of two weeks of holidays
// says: got no window until 2026-12-30 00:00 UTC; want no window until 2027-01-07 09:00 UTC
//
// fails: TestAt/before two holidays that aren't sorted
// says: got window 0 forever; want window 0 until 2026-12-25 00:00 UTC
//
// fails: TestAt/a year before a holiday
// says: got window 0 forever; want window 0 until 2026-12-25 00:00 UTC
//
// fails: TestAt/on a holiday, without windows
// says: got no window until 2026-12-26 00:00 UTC; want no window forever
//
// fails: TestAt/a holiday that has begun in the zone, but not in UTC
// says: got window 0 forever; want no window until 2026-12-26 00:00 JST
//
// fails: TestAt/a holiday that has begun in UTC, but not in the zone
// says: got no window until 2026-12-26 00:00 UTC; want window 0 until 2026-12-25 00:00 EST
//
// fails: TestAt/a holiday of 23 hours
// says: got window 0 forever; want no window until 2026-03-30 00:00 CEST
//
// fails: TestAt/a holiday of 25 hours
// says: got window 0 forever; want no window until 2026-10-26 00:00 CET
//
// fails: TestAt/a holiday without a midnight
// says: got no window until 2026-09-07 00:00 UTC; want window 0 until 2026-09-06 01:00 -03
//
// fails: TestAt/a holiday before a day without a midnight
// says: got window 0 forever; want no window until 2026-09-06 01:00 -03
//
// fails: TestAt/a holiday with two midnights
// says: got window 0 forever; want window 0 until 2026-10-25 00:00 +00
//
// fails: TestBruteForce/in UTC
// says: got window 0 until 2026-12-25 10:00 UTC; want window 0 until 2026-12-25 00:00 UTC
//
// fails: TestBruteForce/where clocks are set forward
// says: got window 0 until 2026-03-27 10:00 CET; want window 0 until 2026-03-27 00:00 CET
//
// fails: TestBruteForce/where clocks are set back
// says: got window 0 until 2026-10-30 10:00 EDT; want window 0 until 2026-10-30 00:00 EDT
//
// fails: TestBruteForce/where a day begins at 01:00
// says: got window 0 until 2026-09-04 10:00 -04; want window 0 until 2026-09-04 00:00 -04
//
// fails: TestBruteForce/where the last hour is repeated
// says: got window 0 until 2026-04-03 10:00 -03; want window 0 until 2026-04-03 00:00 -03
//
// fails: TestBruteForce/where the first hour is repeated
// says: got window 0 until 2026-10-23 10:00 +00; want window 0 until 2026-10-23 00:00 +00
//
// fails: TestBruteForce/where hours begin at a quarter past
// says: got window 0 until 2026-12-25 10:00 +0545; want window 0 until 2026-12-25 00:00 +0545
//
// fails: TestBruteForce/where a Friday is skipped
// says: got window 0 until 2011-12-29 10:00 -10; want window 0 until 2011-12-29 00:00 -10
//
// fails: TestValidate/a date in another format
// says: got no errors; want spec.holidays[1]: Invalid value "26.12.2026"
//
// fails: TestValidate/a date without leading zeros
// says: got no errors; want spec.holidays[0]: Invalid value "2026-1-6"
//
// fails: TestValidate/a date with a time
// says: got no errors; want spec.holidays[0]: Invalid value "2026-12-25T00:00:00Z"
//
// fails: TestValidate/a trailing space
// says: got no errors; want spec.holidays[0]: Invalid value "2026-12-25 "
//
// fails: TestValidate/an empty string
// says: got no errors; want spec.holidays[0]: Invalid value ""
//
// fails: TestValidate/a day that doesn't exist
// says: got no errors; want spec.holidays[0]: Invalid value "2027-02-29"
//
// fails: TestValidate/a date twice
// says: got no errors; want spec.holidays[2]: Duplicate value "2026-12-25"
//
// fails: TestValidate/several mistakes at once
// says: got spec.timeZone: Invalid value "Europe/Atlantis"; want spec.holidays[0]: Invalid value "Christmas", spec.holi

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

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
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
		"no holidays": {
			windows: "9-17",
			at:      "2026-12-25 12:00",
			want:    "window 0 until 2026-12-25 17:00 UTC",
		},
		"on the day before a holiday": {
			windows:  "9-17",
			holidays: "2026-12-25",
			at:       "2026-12-24 12:00",
			want:     "window 0 until 2026-12-24 17:00 UTC",
		},
		"on the evening before a holiday, outside of all windows": {
			windows:  "9-17",
			holidays: "2026-12-25",
			at:       "2026-12-24 18:00",
			want:     "no window until 2026-12-26 09:00 UTC",
			why:      "at nine it is a holiday, and at midnight nothing changes",
		},
		"on the evening before a holiday, in a window": {
			windows:  "22-6",
			holidays: "2026-12-25",
			at:       "2026-12-24 23:00",
			want:     "window 0 until 2026-12-25 00:00 UTC",
			why:      "the window is cut off at midnight, which therefore is a transition",
		},
		"at the first instant of a holiday": {
			windows:  "0-24",
			holidays: "2026-12-25",
			at:       "2026-12-25 00:00",
			want:     "no window until 2026-12-26 00:00 UTC",
		},
		"at noon on a holiday": {
			windows:  "9-17",
			holidays: "2026-12-25",
			at:       "2026-12-25 12:00",
			want:     "no window until 2026-12-26 09:00 UTC",
			why:      "at midnight the holiday is over, and no window begins: nothing changes",
		},
		"on the evening of a holiday, when a window would begin": {
			windows:  "22-6",
			holidays: "2026-12-25",
			at:       "2026-12-25 23:00",
			want:     "no window until 2026-12-26 00:00 UTC",
		},
		"at the first instant after a holiday": {
			windows:  "22-6",
			holidays: "2026-12-25",
			at:       "2026-12-26 00:00",
			want:     "window 0 until 2026-12-26 06:00 UTC",
		},
		"on the first of two holidays": {
			windows:  "0-24",
			holidays: "2026-12-25 2026-12-26",
			at:       "2026-12-25 12:00",
			want:     "no window until 2026-12-27 00:00 UTC",
			why:      "one holiday ends where the next one begins: nothing changes",
		},
		"in the middle of two weeks of holidays": {
			windows: "9-17",
			holidays: "2026-12-24 2026-12-25 2026-12-26 2026-12-27 2026-12-28 2026-12-29 2026-12-30 2026-12-31 " +
				"2027-01-01 2027-01-02 2027-01-03 2027-01-04 2027-01-05 2027-01-06",
			at:   "2026-12-29 12:00",
			want: "no window until 2027-01-07 09:00 UTC",
			why:  "one holiday ends where the next one begins, no matter how many there are",
		},
		"before two holidays that aren't sorted": {
			windows:  "0-24",
			holidays: "2026-12-26 2026-12-25",
			at:       "2026-12-24 12:00",
			want:     "window 0 until 2026-12-25 00:00 UTC",
		},
		"a year before a holiday": {
			windows:  "0-24",
			holidays: "2026-12-25",
			at:       "2026-01-01 12:00",
			want:     "window 0 until 2026-12-25 00:00 UTC",
			why:      "only the holiday ends the window",
		},
		"after the last holiday": {
			windows:  "0-24",
			holidays: "2026-12-25",
			at:       "2026-12-26 12:00",
			want:     "window 0 forever",
		},
		"a year before a holiday, without windows": {
			holidays: "2026-12-25",
			at:       "2026-01-01 12:00",
			want:     "no window forever",
			why:      "a holiday that changes nothing isn't a transition",
		},
		"on a holiday, without windows": {
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
		"a holiday that has begun in the zone, but not in UTC": {
			windows:  "0-24",
			holidays: "2026-12-25",
			zone:     "Asia/Tokyo",
			at:       "2026-12-25 08:00",
			want:     "no window until 2026-12-26 00:00 JST",
		},
		"a holiday that has begun in UTC, but not in the zone": {
			windows:  "0-24",
			holidays: "2026-12-25",
			zone:     "America/New_York",
			at:       "2026-12-24 20:00",
			want:     "window 0 until 2026-12-25 00:00 EST",
		},
		"a holiday of 23 hours": {
			windows:  "0-24",
			holidays: "2026-03-29",
			zone:     "Europe/Berlin",
			at:       "2026-03-29 00:30",
			want:     "no window until 2026-03-30 00:00 CEST",
		},
		"a holiday of 25 hours": {
			windows:  "0-24",
			holidays: "2026-10-25",
			zone:     "Europe/Berlin",
			at:       "2026-10-25 00:30",
			want:     "no window until 2026-10-26 00:00 CET",
		},
		"a holiday without a midnight": {
			windows:  "0-24",
			holidays: "2026-09-06",
			zone:     "America/Santiago",
			at:       "2026-09-05 22:00",
			want:     "window 0 until 2026-09-06 01:00 -03",
			why:      "clocks go from 23:59 to 01:00. For that midnight, time.Date returns 23:00 on the day before",
		},
		"a holiday before a day without a midnight": {
			windows:  "0-24",
			holidays: "2026-09-05",
			zone:     "America/Santiago",
			at:       "2026-09-05 23:30",
			want:     "no window until 2026-09-06 01:00 -03",
			why:      "clocks go from 23:59 to 01:00. For that midnight, time.Date returns 23:00 on the day before",
		},
		"a holiday with two midnights": {
			windows:  "0-24",
			holidays: "2026-10-25",
			zone:     "Atlantic/Azores",
			at:       "2026-10-24 23:30",
			want:     "window 0 until 2026-10-25 00:00 +00",
			why:      "an hour after the first midnight comes the second: the holiday begins with the first",
		},
		"an invalid date": {
			windows:  "0-24",
			holidays: "Christmas",
			at:       "2026-12-25 12:00",
			want:     "window 0 forever",
		},
		"an unknown time zone": {
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
				t.Fatalf("the test's time doesn't exist: %q, %v", test.at, err)
			}
			if got := ask(spec, instant.UTC()); got != test.want {
				t.Errorf("windows [%s], holidays [%s], in %s at %s: got %s; want %s",
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
		"where a day begins at 01:00":         {"America/Santiago", "2026-08-30"},
		"where the last hour is repeated":     {"America/Santiago", "2026-03-29"},
		"where the first hour is repeated":    {"Atlantic/Azores", "2026-10-18"},
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
						t.Fatalf("windows [%s], holidays %v, in %s at %s: got %s; want %s",
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
		"valid dates": {
			holidays: []string{"2026-12-26", "2026-12-25", "2028-02-29", "1999-12-31"},
			why:      "dates needn't be sorted, and may be in the past, so that a valid spec stays valid",
		},
		"no holidays": {},
		"a date in another format": {
			holidays: []string{"2026-12-25", "26.12.2026"},
			want:     []string{`spec.holidays[1]: Invalid value "26.12.2026"`},
		},
		"a date without leading zeros": {
			holidays: []string{"2026-1-6"},
			want:     []string{`spec.holidays[0]: Invalid value "2026-1-6"`},
			why:      "if a date can be written in two ways, duplicates aren't found",
		},
		"a date with a time": {
			holidays: []string{"2026-12-25T00:00:00Z"},
			want:     []string{`spec.holidays[0]: Invalid value "2026-12-25T00:00:00Z"`},
		},
		"a trailing space": {
			holidays: []string{"2026-12-25 "},
			want:     []string{`spec.holidays[0]: Invalid value "2026-12-25 "`},
		},
		"an empty string": {
			holidays: []string{""},
			want:     []string{`spec.holidays[0]: Invalid value ""`},
		},
		"a day that doesn't exist": {
			holidays: []string{"2027-02-29"},
			want:     []string{`spec.holidays[0]: Invalid value "2027-02-29"`},
			why:      "2027 is no leap year. A pattern can't see that",
		},
		"a date twice": {
			holidays: []string{"2026-12-25", "2026-12-26", "2026-12-25"},
			want:     []string{`spec.holidays[2]: Duplicate value "2026-12-25"`},
		},
		"several mistakes at once": {
			holidays: []string{"Christmas", "2026-12-25", "2026-12-25", "2026-12-32"},
			zone:     "Europe/Atlantis",
			want: []string{
				`spec.timeZone: Invalid value "Europe/Atlantis"`,
				`spec.holidays[0]: Invalid value "Christmas"`,
				`spec.holidays[2]: Duplicate value "2026-12-25"`,
				`spec.holidays[3]: Invalid value "2026-12-32"`,
			},
			why: "report all mistakes at once, so that users don't have to try again for each",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			crash := caught(func() {
				for _, err := range Validate(specOf(t, "9-17", test.zone, test.holidays), field.NewPath("spec")) {
					got = append(got, fmt.Sprintf("%s: %s %q", err.Field, err.Type, err.BadValue))
					if err.Type == field.ErrorTypeInvalid && err.Detail == "" {
						t.Errorf("%s: the error is %q, want a detail that describes the format", err.Field, err)
					}
				}
			})
			slices.Sort(got)
			slices.Sort(test.want)
			switch {
			case crash != "":
				t.Errorf("holidays %q: %s", test.holidays, crash)
			case !slices.Equal(got, test.want):
				t.Errorf("holidays %q: got %s; want %s", test.holidays, orNone(got), orNone(test.want))
			}
			if t.Failed() && test.why != "" {
				t.Log("Why: " + test.why)
			}
		})
	}
}

func orNone(refused []string) string {
	if len(refused) == 0 {
		return "no errors"
	}
	return strings.Join(refused, ", ")
}

// ask calls At, and describes its result in words.
func ask(spec *Spec, instant time.Time) (answer string) {
	given := slices.Clone(spec.Holidays)
	if crash := caught(func() { answer = inWords(At(spec, instant)) }); crash != "" {
		return "a " + crash
	}
	if !slices.Equal(spec.Holidays, given) {
		return fmt.Sprintf("%s, and has changed the spec's holidays to %v (don't change objects that come from a cache)", answer, spec.Holidays)
	}
	return answer
}

// caught calls a function, and describes its panic, if any.
func caught(call func()) (crash string) {
	defer func() {
		if found := recover(); found != nil {
			crash = fmt.Sprintf("panic: %v", found)
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
	spec := &Spec{TDSetSpec: schedulev2.TDSetSpec{DefaultReplicas: replicasOf(schedule.None), TimeZone: zone}, Holidays: holidays}
	for i, hours := range strings.Split(windows, "; ") {
		if hours == "" {
			continue
		}
		var start, end int
		if _, err := fmt.Sscanf(hours, "%d-%d", &start, &end); err != nil {
			t.Fatalf("the test's windows are invalid: %q", windows)
		}
		spec.Windows = append(spec.Windows, schedulev2.Window{
			Name: hours, Start: fmt.Sprintf("%02d:00", start), End: fmt.Sprintf("%02d:00", end), Replicas: replicasOf(i),
		})
	}
	return spec
}
