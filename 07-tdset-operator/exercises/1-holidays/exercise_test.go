//go:build check || solution

// These tests check what At and Validate promise.
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
// fails: TestAt/in the middle of two weeks of holidays
// says: got no window until 2026-12-30 00:00 UTC; want no window until 2027-01-07 09:00 UTC
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
// fails: TestAt/a holiday of 23 hours
// says: got window 0 forever; want no window until 2026-03-30 00:00 CEST
//
// fails: TestAt/a holiday without a midnight
// says: got no window until 2026-09-07 00:00 UTC; want window 0 until 2026-09-06 01:00 -03
//
// fails: TestAt/a holiday with two midnights
// says: got window 0 forever; want window 0 until 2026-10-25 00:00 +00
//
// fails: TestValidate/a date without leading zeros
// says: got []; want ["spec.holidays[0]: Invalid value \"2026-1-6\""]
//
// fails: TestValidate/several mistakes at once
// says: got ["spec.timeZone: Invalid value \"Europe/Atlantis\""]; want ["spec.holidays[0]: Invalid value

package holidays

import (
	"fmt"
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

		"at noon on a holiday": {
			windows:  "9-17",
			holidays: "2026-12-25",
			at:       "2026-12-25 12:00",
			want:     "no window until 2026-12-26 09:00 UTC",
			why:      "at midnight the holiday is over, and no window begins: nothing changes",
		},

		"at the first instant after a holiday": {
			windows:  "22-6",
			holidays: "2026-12-25",
			at:       "2026-12-26 00:00",
			want:     "window 0 until 2026-12-26 06:00 UTC",
		},

		"in the middle of two weeks of holidays": {
			windows: "9-17",
			holidays: "2026-12-24 2026-12-25 2026-12-26 2026-12-27 2026-12-28 2026-12-29 2026-12-30 2026-12-31 " +
				"2027-01-01 2027-01-02 2027-01-03 2027-01-04 2027-01-05 2027-01-06",
			at:   "2026-12-29 12:00",
			want: "no window until 2027-01-07 09:00 UTC",
			why:  "one holiday ends where the next one begins, no matter how many there are",
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

		"on a holiday, without windows": {
			holidays: "2026-12-25",
			at:       "2026-12-25 12:00",
			want:     "no window forever",
		},

		"a holiday that has begun in the zone, but not in UTC": {
			windows:  "0-24",
			holidays: "2026-12-25",
			zone:     "Asia/Tokyo",
			at:       "2026-12-25 08:00",
			want:     "no window until 2026-12-26 00:00 JST",
		},

		"a holiday of 23 hours": {
			windows:  "0-24",
			holidays: "2026-03-29",
			zone:     "Europe/Berlin",
			at:       "2026-03-29 00:30",
			want:     "no window until 2026-03-30 00:00 CEST",
		},

		"a holiday without a midnight": {
			windows:  "0-24",
			holidays: "2026-09-06",
			zone:     "America/Santiago",
			at:       "2026-09-05 22:00",
			want:     "window 0 until 2026-09-06 01:00 -03",
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
				t.Errorf("windows [%s], holidays [%s], in %s at %s: got %s; want %s\n%s",
					test.windows, test.holidays, zone, test.at, got, test.want, test.why)
			}
		})
	}
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

		"a date without leading zeros": {
			holidays: []string{"2026-1-6"},
			want:     []string{`spec.holidays[0]: Invalid value "2026-1-6"`},
			why:      "if a date can be written in two ways, duplicates aren't found",
		},

		"several mistakes at once": {
			holidays: []string{"26.12.2026", "2026-12-25", "2026-12-25", "2027-02-29"},
			zone:     "Europe/Atlantis",
			want: []string{
				`spec.holidays[0]: Invalid value "26.12.2026"`,
				`spec.holidays[2]: Duplicate value "2026-12-25"`,
				`spec.holidays[3]: Invalid value "2027-02-29"`,
				`spec.timeZone: Invalid value "Europe/Atlantis"`,
			},
			why: "report all mistakes at once, so that users don't have to try again for each",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, err := range Validate(specOf(t, "9-17", test.zone, test.holidays), field.NewPath("spec")) {
				got = append(got, fmt.Sprintf("%s: %s %q", err.Field, err.Type, err.BadValue))
				if err.Type == field.ErrorTypeInvalid && err.Detail == "" {
					t.Errorf("%s: the error is %q, want a detail that describes the format", err.Field, err)
				}
			}
			if slices.Sort(got); !slices.Equal(got, test.want) {
				t.Errorf("holidays %q: got %q; want %q", test.holidays, got, test.want)
			}
			if t.Failed() {
				t.Log(test.why)
			}
		})
	}
}

// ask calls At, and describes its result in words.
func ask(spec *Spec, instant time.Time) string {
	given := slices.Clone(spec.Holidays)
	answer := inWords(At(spec, instant))
	if !slices.Equal(spec.Holidays, given) {
		return fmt.Sprintf("%s, and has changed the spec's holidays to %v (don't change objects that come from a cache)", answer, spec.Holidays)
	}
	return answer
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
	return words + " until " + strings.TrimSuffix(state.Next.Format("2006-01-02 15:04:05.999999999"), ":00") + state.Next.Format(" MST")
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
