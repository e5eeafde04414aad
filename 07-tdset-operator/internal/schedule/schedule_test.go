// The schedule at chosen instants. bruteforce_test.go tests all others.

package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// seed is the schedule of the sample. Hour 0 is in no window.
var seed = []schedulev2.Window{aWindow(9, 17, 5), aWindow(17, 19, 3), aWindow(19, 0, 2), aWindow(1, 7, 2), aWindow(7, 9, 3)}

// night continues past midnight, and early starts at midnight.
var (
	night = []schedulev2.Window{aWindow(22, 6, 2)}
	early = []schedulev2.Window{aWindow(0, 6, 2)}
	two   = []schedulev2.Window{aWindow(2, 3, 5)}
	work  = []schedulev2.Window{aWindow(9, 17, 5)}
)

// office has minutes, and days on which it begins. The 1st of January 2026 is a Thursday.
var (
	office   = []schedulev2.Window{between("09:15", "17:45", 5, schedulev2.Monday, schedulev2.Tuesday, schedulev2.Wednesday, schedulev2.Thursday, schedulev2.Friday)}
	saturday = []schedulev2.Window{between("22:30", "06:15", 2, schedulev2.Saturday)}
)

// Outside of all windows, the schedules ask for 10 replicas. All times have their zone's offset
// from UTC.
func TestAt(t *testing.T) {
	for sentence, test := range map[string]struct {
		windows      []schedulev2.Window
		zone         string
		at           string
		want         string // the window's name
		wantReplicas int32
		wantNext     string // empty: never
	}{
		"a window includes its start":           {seed, "", "2026-01-01T09:00:00Z", "9-17", 5, "2026-01-01T17:00:00Z"},
		"a window includes its last nanosecond": {seed, "", "2026-01-01T16:59:59.999999999Z", "9-17", 5, "2026-01-01T17:00:00Z"},
		"a window excludes its end":             {seed, "", "2026-01-01T17:00:00Z", "17-19", 3, "2026-01-01T19:00:00Z"},
		"before a window":                       {work, "", "2026-01-01T08:59:59Z", "default", 10, "2026-01-01T09:00:00Z"},
		"after a window":                        {work, "", "2026-01-01T17:00:00Z", "default", 10, "2026-01-02T09:00:00Z"},
		"a gap of an hour":                      {seed, "", "2026-01-01T00:59:59Z", "default", 10, "2026-01-01T01:00:00Z"},
		"a gap in the day":                      {[]schedulev2.Window{aWindow(9, 12, 4), aWindow(13, 17, 5)}, "", "2026-01-01T12:30:00Z", "default", 10, "2026-01-01T13:00:00Z"},
		"without windows":                       {nil, "", "2026-01-01T12:00:00Z", "default", 10, ""},
		"an instant in another zone":            {work, "UTC", "2026-01-01T18:30:00+10:00", "default", 10, "2026-01-01T09:00:00Z"},
		"a window with 0 replicas":              {[]schedulev2.Window{aWindow(9, 17, 0)}, "", "2026-01-01T12:00:00Z", "9-17", 0, "2026-01-01T17:00:00Z"},
		"another window has the same replicas": {
			[]schedulev2.Window{aWindow(9, 12, 5), aWindow(12, 17, 5)}, "", "2026-01-01T10:00:00Z", "9-12", 5, "2026-01-01T12:00:00Z",
		},
		"the default has the same replicas": {
			[]schedulev2.Window{aWindow(9, 12, 10)}, "", "2026-01-01T10:00:00Z", "9-12", 10, "2026-01-01T12:00:00Z",
		},

		"from 19 up to 0":               {seed, "", "2026-01-01T23:59:59Z", "19-0", 2, "2026-01-02T00:00:00Z"},
		"from 19 up to 24":              {[]schedulev2.Window{aWindow(19, 24, 2)}, "", "2026-01-01T23:59:59Z", "19-24", 2, "2026-01-02T00:00:00Z"},
		"from 22 to 6, before midnight": {night, "", "2026-01-01T23:00:00Z", "22-6", 2, "2026-01-02T06:00:00Z"},
		"from 22 to 6, after midnight":  {night, "", "2026-01-02T05:59:59Z", "22-6", 2, "2026-01-02T06:00:00Z"},
		"from 22 to 6, at noon":         {night, "", "2026-01-02T12:00:00Z", "default", 10, "2026-01-02T22:00:00Z"},
		"from 0 to 24":                  {[]schedulev2.Window{aWindow(0, 24, 2)}, "Europe/Berlin", "2026-03-29T01:30:00+01:00", "0-24", 2, ""},
		"the hour 23, up to 0":          {[]schedulev2.Window{aWindow(23, 0, 2)}, "", "2026-01-01T22:59:59Z", "default", 10, "2026-01-01T23:00:00Z"},
		"the hour 23, up to 24":         {[]schedulev2.Window{aWindow(23, 24, 2)}, "", "2026-01-01T23:30:00Z", "23-24", 2, "2026-01-02T00:00:00Z"},
		"up to the hour 23":             {[]schedulev2.Window{aWindow(20, 23, 2)}, "", "2026-01-01T22:59:59Z", "20-23", 2, "2026-01-01T23:00:00Z"},
		"from 23 to 22":                 {[]schedulev2.Window{aWindow(23, 22, 2)}, "", "2026-01-01T23:00:00Z", "23-22", 2, "2026-01-02T22:00:00Z"},

		"two windows include the hour, and the first one wins": {
			[]schedulev2.Window{aWindow(12, 14, 8), aWindow(9, 17, 5)}, "", "2026-01-01T12:30:00Z", "12-14", 8, "2026-01-01T14:00:00Z",
		},
		"the second window, until the first one starts": {
			[]schedulev2.Window{aWindow(12, 14, 8), aWindow(9, 17, 5)}, "", "2026-01-01T11:30:00Z", "9-17", 5, "2026-01-01T12:00:00Z",
		},
		"the first window wins, although the second one is narrower": {
			[]schedulev2.Window{aWindow(9, 17, 5), aWindow(12, 14, 8)}, "", "2026-01-01T12:30:00Z", "9-17", 5, "2026-01-01T17:00:00Z",
		},
		"a last window covers all other hours": {
			[]schedulev2.Window{aWindow(9, 17, 5), aWindow(0, 24, 2)}, "", "2026-01-01T20:00:00Z", "0-24", 2, "2026-01-02T09:00:00Z",
		},
		"a first window covers all hours": {
			[]schedulev2.Window{aWindow(0, 24, 2), aWindow(9, 17, 5)}, "", "2026-01-01T12:00:00Z", "0-24", 2, "",
		},
		"two windows cover all hours together": {
			[]schedulev2.Window{aWindow(0, 12, 2), aWindow(12, 0, 5)}, "", "2026-01-01T23:00:00Z", "12-0", 5, "2026-01-02T00:00:00Z",
		},

		"a window of minutes includes its start":              {office, "", "2026-01-01T09:15:00Z", office[0].Name, 5, "2026-01-01T17:45:00Z"},
		"a window of minutes: the last second before":         {office, "", "2026-01-01T09:14:59Z", "default", 10, "2026-01-01T09:15:00Z"},
		"a window of minutes excludes its end":                {office, "", "2026-01-01T17:45:00Z", "default", 10, "2026-01-02T09:15:00Z"},
		"a window of one minute":                              {[]schedulev2.Window{between("12:34", "12:35", 5)}, "", "2026-01-01T12:34:59.9Z", "1234-1235", 5, "2026-01-01T12:35:00Z"},
		"a window of all minutes but one":                     {[]schedulev2.Window{between("12:35", "12:34", 5)}, "", "2026-01-01T12:35:00Z", "1235-1234", 5, "2026-01-02T12:34:00Z"},
		"on a Friday evening, the next window is on Monday":   {office, "", "2026-01-02T18:00:00Z", "default", 10, "2026-01-05T09:15:00Z"},
		"on a Saturday, a window of the other days":           {office, "", "2026-01-03T12:00:00Z", "default", 10, "2026-01-05T09:15:00Z"},
		"past midnight, the window belongs to the day before": {saturday, "", "2026-01-04T06:14:59Z", saturday[0].Name, 2, "2026-01-04T06:15:00Z"},
		"past midnight, but the window began on no such day":  {saturday, "", "2026-01-03T05:00:00Z", "default", 10, "2026-01-03T22:30:00Z"},
		"a window of one day comes again after a week":        {saturday, "", "2026-01-04T06:15:00Z", "default", 10, "2026-01-10T22:30:00Z"},
		"the whole day, on one day": {
			[]schedulev2.Window{between("00:00", "24:00", 5, schedulev2.Sunday)}, "", "2026-01-04T12:00:00Z", "0-24-sun", 5, "2026-01-05T00:00:00Z",
		},
		"the whole day, on two days in a row": {
			[]schedulev2.Window{between("00:00", "24:00", 5, schedulev2.Sunday, schedulev2.Monday)}, "", "2026-01-04T12:00:00Z", "0-24-sun-mon", 5, "2026-01-06T00:00:00Z",
		},
		"the whole day, on all days": {
			[]schedulev2.Window{between("00:00", "24:00", 5, weekdays...)}, "", "2026-01-04T12:00:00Z", "0-24-sun-mon-tue-wed-thu-fri-sat", 5, "",
		},
		"the weekday is the zone's": {office, "Pacific/Auckland", "2026-01-04T21:00:00Z", office[0].Name, 5, "2026-01-05T17:45:00+13:00"},

		// At 2:00, clocks are set forward to 3:00.
		"forward in Berlin: the day before":            {two, "Europe/Berlin", "2026-03-28T02:30:00+01:00", "2-3", 5, "2026-03-28T03:00:00+01:00"},
		"forward: a window of the skipped hour":        {two, "Europe/Berlin", "2026-03-29T01:59:59+01:00", "default", 10, "2026-03-30T02:00:00+02:00"},
		"forward: a window that starts with it":        {[]schedulev2.Window{aWindow(2, 6, 5)}, "Europe/Berlin", "2026-03-29T01:30:00+01:00", "default", 10, "2026-03-29T03:00:00+02:00"},
		"forward: a window that ends with it":          {[]schedulev2.Window{aWindow(1, 3, 5)}, "Europe/Berlin", "2026-03-29T01:30:00+01:00", "1-3", 5, "2026-03-29T03:00:00+02:00"},
		"forward: a window that starts after it":       {[]schedulev2.Window{aWindow(3, 6, 5)}, "Europe/Berlin", "2026-03-29T01:30:00+01:00", "default", 10, "2026-03-29T03:00:00+02:00"},
		"forward in New York: a night of seven hours":  {night, "America/New_York", "2026-03-07T23:00:00-05:00", "22-6", 2, "2026-03-08T06:00:00-04:00"},
		"forward in Sydney: a window of the lost hour": {two, "Australia/Sydney", "2026-10-04T01:30:00+10:00", "default", 10, "2026-10-05T02:00:00+11:00"},

		// At 3:00, clocks are set back to 2:00. In New York, they are set back from 2:00 to 1:00.
		"back in Berlin: an hour of two hours":         {two, "Europe/Berlin", "2026-10-25T02:30:00+02:00", "2-3", 5, "2026-10-25T03:00:00+01:00"},
		"back: its second half":                        {two, "Europe/Berlin", "2026-10-25T02:30:00+01:00", "2-3", 5, "2026-10-25T03:00:00+01:00"},
		"back: before it":                              {two, "Europe/Berlin", "2026-10-25T01:30:00+02:00", "default", 10, "2026-10-25T02:00:00+02:00"},
		"back in New York: a night of nine hours":      {night, "America/New_York", "2026-10-31T23:00:00-04:00", "22-6", 2, "2026-11-01T06:00:00-05:00"},
		"back in New York: an hour of two hours":       {[]schedulev2.Window{aWindow(1, 2, 5)}, "America/New_York", "2026-11-01T01:30:00-04:00", "1-2", 5, "2026-11-01T02:00:00-05:00"},
		"back in Sydney":                               {two, "Australia/Sydney", "2026-04-05T02:00:00+11:00", "2-3", 5, "2026-04-05T03:00:00+10:00"},
		"back by two hours in Troll: a first time":     {two, "Antarctica/Troll", "2026-10-25T02:30:00+02:00", "2-3", 5, "2026-10-25T01:00:00Z"},
		"back by two hours: between":                   {two, "Antarctica/Troll", "2026-10-25T01:30:00Z", "default", 10, "2026-10-25T02:00:00Z"},
		"back by two hours: a second time":             {two, "Antarctica/Troll", "2026-10-25T02:00:00Z", "2-3", 5, "2026-10-25T03:00:00Z"},
		"back a minute after midnight: a first time":   {early, "America/St_Johns", "2010-11-07T00:00:30-02:30", "0-6", 2, "2010-11-06T23:01:00-03:30"},
		"back a minute after midnight: between":        {early, "America/St_Johns", "2010-11-06T23:30:00-03:30", "default", 10, "2010-11-07T00:00:00-03:30"},
		"back a minute after midnight: a second time":  {early, "America/St_Johns", "2010-11-07T00:00:30-03:30", "0-6", 2, "2010-11-07T06:00:00-03:30"},
		"forward by half an hour: half an hour late":   {two, "Australia/Lord_Howe", "2026-10-04T01:59:59+10:30", "default", 10, "2026-10-04T02:30:00+11:00"},
		"forward by half an hour: half as long":        {two, "Australia/Lord_Howe", "2026-10-04T02:30:00+11:00", "2-3", 5, "2026-10-04T03:00:00+11:00"},
		"back by half an hour: half an hour late":      {two, "Australia/Lord_Howe", "2026-04-05T01:45:00+11:00", "default", 10, "2026-04-05T02:00:00+10:30"},
		"back by half an hour: the repeated half hour": {two, "Australia/Lord_Howe", "2026-04-05T01:30:00+10:30", "default", 10, "2026-04-05T02:00:00+10:30"},

		"an offset of half an hour, in Kolkata":             {work, "Asia/Kolkata", "2026-01-01T03:29:59Z", "default", 10, "2026-01-01T09:00:00+05:30"},
		"an offset with a quarter of an hour, in Kathmandu": {work, "Asia/Kathmandu", "2026-01-01T03:15:00Z", "9-17", 5, "2026-01-01T17:00:00+05:45"},
		"a day ahead, in Kiritimati":                        {work, "Pacific/Kiritimati", "2026-01-01T19:00:00Z", "9-17", 5, "2026-01-02T17:00:00+14:00"},
		"an offset with seconds, in Berlin in 1890":         {work, "Europe/Berlin", "1890-01-01T08:00:00Z", "default", 10, "1890-01-01T08:06:32Z"},
		"the day that Apia skipped: at night":               {night, "Pacific/Apia", "2011-12-29T23:00:00-10:00", "22-6", 2, "2011-12-31T06:00:00+14:00"},
		"the day that Apia skipped: by day":                 {work, "Pacific/Apia", "2011-12-29T17:00:00-10:00", "default", 10, "2011-12-31T09:00:00+14:00"},
		"the day that Apia skipped: midnight":               {early, "Pacific/Apia", "2011-12-29T23:59:59-10:00", "default", 10, "2011-12-31T00:00:00+14:00"},
		"the Friday that Apia skipped: a window on Fridays": {
			[]schedulev2.Window{between("09:00", "17:00", 5, schedulev2.Friday)}, "Pacific/Apia", "2011-12-29T17:00:00-10:00", "default", 10, "2012-01-06T09:00:00+14:00",
		},
		"the Friday that Apia skipped: a night from Thursday to Saturday": {
			[]schedulev2.Window{between("22:00", "06:00", 5, schedulev2.Thursday)}, "Pacific/Apia", "2011-12-29T23:00:00-10:00", "22-6-thu", 5, "2011-12-31T00:00:00+14:00",
		},
		"forward: a start in the skipped half hour": {[]schedulev2.Window{between("02:15", "04:00", 5)}, "Australia/Lord_Howe", "2026-10-04T01:59:59+10:30", "default", 10, "2026-10-04T02:30:00+11:00"},
		"a leap day, by its weekday": {
			[]schedulev2.Window{between("12:30", "13:00", 5, schedulev2.Tuesday)}, "Europe/Berlin", "2028-02-28T23:30:00+01:00", "default", 10, "2028-02-29T12:30:00+01:00",
		},
		"a leap day":                           {early, "Europe/Berlin", "2028-02-28T23:30:00+01:00", "default", 10, "2028-02-29T00:00:00+01:00"},
		"the day after a leap day":             {early, "Europe/Berlin", "2028-02-29T23:30:00+01:00", "default", 10, "2028-03-01T00:00:00+01:00"},
		"no leap day":                          {early, "Europe/Berlin", "2027-02-28T23:30:00+01:00", "default", 10, "2027-03-01T00:00:00+01:00"},
		"the last day of a leap year":          {night, "Europe/Berlin", "2040-12-31T12:00:00+01:00", "default", 10, "2040-12-31T22:00:00+01:00"},
		"from a leap year to the next":         {night, "Europe/Berlin", "2040-12-31T23:30:00+01:00", "22-6", 2, "2041-01-01T06:00:00+01:00"},
		"from a leap year to the next, at -5":  {night, "America/New_York", "2040-12-31T20:00:00-05:00", "default", 10, "2040-12-31T22:00:00-05:00"},
		"from a leap year to the next, at +11": {night, "Australia/Sydney", "2040-12-31T21:00:00+11:00", "default", 10, "2040-12-31T22:00:00+11:00"},
		"summer time in a far year":            {two, "Europe/Berlin", "2100-03-28T01:30:00+01:00", "default", 10, "2100-03-29T02:00:00+02:00"},
	} {
		t.Run(sentence, func(t *testing.T) {
			spec := aSpec(test.zone, test.windows...)
			got := at(t, spec, instant(t, test.at))
			if name := Name(spec, got.Window); name != test.want || got.Replicas != test.wantReplicas {
				t.Errorf("the window is %s with %d replicas, want %s with %d", name, got.Replicas, test.want, test.wantReplicas)
			}
			switch {
			case test.wantNext == "" && got.Next.IsZero():
			case test.wantNext == "":
				t.Errorf("the next transition is at %s, want none", got.Next)
			case !got.Next.Equal(instant(t, test.wantNext)):
				t.Errorf("the next transition is at %s, want %s", got.Next.Format(time.RFC3339), test.wantNext)
			}
		})
	}
}

func TestAtOfAnUnknownZone(t *testing.T) {
	for _, zone := range []string{"Mars/Olympus_Mons", "Local", "+05:30", "UTC ", "Europe", "Europe/", "/Europe/Berlin", "../Europe/Berlin", "Europe/../Berlin", "\x00"} {
		if state, err := At(aSpec(zone, work...), time.Time{}); err == nil {
			t.Errorf("the zone %q gets the state %+v, want an error", zone, state)
		}
	}
	_, err := At(aSpec("Mars/Olympus_Mons"), time.Time{})
	if want := `timeZone "Mars/Olympus_Mons": unknown time zone: use an IANA name, such as Europe/Berlin or UTC`; err == nil || err.Error() != want {
		t.Errorf("got the error %v, want %s", err, want)
	}
}

func TestAtOfAnInvalidTime(t *testing.T) {
	for _, window := range []schedulev2.Window{
		between("9:00", "17:00", 1), between("", "17:00", 1), between("09:60", "17:00", 1), between("-9:00", "17:00", 1),
		between("09:00", "24:01", 1), between("09:00", "25:00", 1), between("09:00", "17:0", 1), between("09:00", "17:00:00", 1),
	} {
		if state, err := At(aSpec("", window), time.Time{}); err == nil {
			t.Errorf("%v gets the state %+v, want an error", window, state)
		}
	}
}

// Next must not have a monotonic reading, because callers compare it with the wall clock.
func TestNextHasNoMonotonicReading(t *testing.T) {
	now := time.Now()
	if with, without := at(t, aSpec("", work...), now), at(t, aSpec("", work...), now.Round(0)); with != without {
		t.Errorf("the state is %v, want %v", with, without)
	}
}

func TestNextIsInTheZone(t *testing.T) {
	next := at(t, aSpec("Asia/Kathmandu", work...), instant(t, "2026-01-01T00:00:00Z")).Next
	if got, want := next.Format(time.RFC3339), "2026-01-01T09:00:00+05:45"; got != want {
		t.Errorf("the next transition is at %s, want %s", got, want)
	}
}

func at(t *testing.T, spec *schedulev2.TDSetSpec, instant time.Time) State {
	t.Helper()
	state, err := At(spec, instant)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

// aSpec returns a schedule with 10 replicas outside of its windows.
func aSpec(zone string, windows ...schedulev2.Window) *schedulev2.TDSetSpec {
	return &schedulev2.TDSetSpec{TimeZone: zone, Windows: windows, DefaultReplicas: 10}
}

// aWindow returns a window of full hours, which is named after them: 9-17.
func aWindow(start, end, replicas int32) schedulev2.Window {
	return between(fmt.Sprintf("%02d:00", start), fmt.Sprintf("%02d:00", end), replicas)
}

// between returns a window that begins on these days, or every day. Its name has its times without
// ":00": 9-17, 0915-1745.
func between(start, end string, replicas int32, days ...schedulev2.Day) schedulev2.Window {
	short := func(time string) string {
		if hour, full := strings.CutSuffix(time, ":00"); full {
			return strings.TrimPrefix(hour, "0")
		}
		return strings.ReplaceAll(time, ":", "")
	}
	name := short(start) + "-" + short(end)
	for _, day := range days {
		name += "-" + strings.ToLower(string(day))
	}
	return schedulev2.Window{Name: name, Start: start, End: end, Replicas: replicas, Days: days}
}
