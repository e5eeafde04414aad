// A brute-force schedule, which looks at every minute. At has to give the same results, for any
// schedule that the fuzzer finds, and for each minute of a year.

package schedule

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// activeAt returns the first window that is active. A window is active if it has begun today or
// yesterday, on one of its days, and its length in minutes of the wall clock hasn't passed since.
func activeAt(spec *schedulev2.TDSetSpec, zone *time.Location, instant time.Time) int {
	local := instant.In(zone)
	minute := local.Hour()*60 + local.Minute()
	today, yesterday := local.Weekday().String()[:3], ((local.Weekday() + 6) % 7).String()[:3]
	for i, window := range spec.Windows {
		start, length := naive(window.Start), naive(window.End)-naive(window.Start)
		if length <= 0 {
			length += 24 * 60
		}
		begins := func(day string) bool {
			return len(window.Days) == 0 || slices.Contains(window.Days, schedulev2.Day(day))
		}
		since := minute - start
		if since >= 0 && since < length && begins(today) || since+24*60 < length && begins(yesterday) {
			return i
		}
	}
	return None
}

// naive reads a time of day.
func naive(text string) int {
	return int(text[0]-'0')*600 + int(text[1]-'0')*60 + int(text[3]-'0')*10 + int(text[4]-'0')
}

// replicasOf returns a window's number of replicas.
func replicasOf(spec *schedulev2.TDSetSpec, window int) int32 {
	if window == None {
		return spec.DefaultReplicas
	}
	return spec.Windows[window].Replicas
}

// nextMinute returns the first full minute after instant at which another window is active. If
// there is none within 16 days, there is none at all, because a window may be a week away, and no
// zone has skipped more than one day.
func nextMinute(spec *schedulev2.TDSetSpec, zone *time.Location, instant time.Time) time.Time {
	window := activeAt(spec, zone, instant)
	minute := instant.Truncate(time.Minute)
	for range 16 * 24 * 60 {
		minute = minute.Add(time.Minute)
		if activeAt(spec, zone, minute) != window {
			return minute
		}
	}
	return time.Time{}
}

// The zones that the fuzzer chooses from. Each has a peculiarity.
var zones = []string{
	"UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/St_Johns", "America/Sao_Paulo", "America/Nuuk", "Africa/Cairo",
	"Africa/Casablanca", "Antarctica/Troll", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tehran", "Asia/Pyongyang", "Australia/Sydney", "Australia/Lord_Howe",
	"Pacific/Apia", "Pacific/Chatham", "Pacific/Kwajalein", "Pacific/Kiritimati", "Etc/GMT+12",
}

// FuzzAt compares At with the brute force: now, at the next transition, and right before it. Five
// bytes make a window.
func FuzzAt(f *testing.F) {
	example := []byte{2, 28, 3, 252, 0, 4, 26, 4, 126, 0, 4, 116, 0, 0, 62}
	for _, at := range []string{
		"2026-01-01T08:59:59Z", "2026-03-29T00:59:59Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-03-08T06:59:59Z", "2026-11-01T05:30:00Z",
		"2026-10-03T15:30:00Z", "2026-04-04T15:15:00Z", "2011-12-30T09:59:59Z", "2010-11-07T02:30:59Z", "2028-02-28T23:59:59Z", "2040-12-31T12:00:00Z",
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			f.Fatal(err)
		}
		for zone := range zones {
			f.Add(uint8(zone), when.Unix(), uint32(0), int32(3), example)
			f.Add(uint8(zone), when.Unix(), uint32(999_999_999), int32(1), []byte{0, 120, 0, 180, 0, 5, 55, 1, 111, 65})
		}
	}
	f.Add(uint8(1), int64(0), uint32(0), int32(1), []byte{})
	f.Add(uint8(1), int64(0), uint32(0), int32(1), []byte{0, 0, 5, 160, 0, 2, 28, 3, 252, 0})

	// The brute force looks at full minutes, but until 1972 some zones had offsets with seconds.
	first, last := time.Date(1973, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	f.Fuzz(func(t *testing.T, zoneIndex uint8, seconds int64, nanoseconds uint32, defaultReplica int32, windows []byte) {
		spec := &schedulev2.TDSetSpec{TimeZone: zones[int(zoneIndex)%len(zones)], DefaultReplicas: defaultReplica}
		for ; len(windows) >= 5 && len(spec.Windows) < maxWindows; windows = windows[5:] {
			spec.Windows = append(spec.Windows, windowFrom(int(windows[0])<<8|int(windows[1]), int(windows[2])<<8|int(windows[3]), windows[4]))
		}
		if seconds < first || seconds > last {
			seconds = first + int64(uint64(seconds)%uint64(last-first))
		}
		zone, err := Location(spec)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(seconds, int64(nanoseconds%1e9))

		got := at(t, spec, now)

		if want := activeAt(spec, zone, now); got.Window != want || got.Replicas != replicasOf(spec, want) {
			t.Fatalf("%v at %s: the window is %d with %d replicas, want %d", spec, now.In(zone), got.Window, got.Replicas, want)
		}
		want := nextMinute(spec, zone, now)
		if !got.Next.Equal(want) {
			t.Fatalf("%v at %s: the next transition is at %s, want %s", spec, now.In(zone), got.Next, want)
		}
		if want.IsZero() {
			return
		}
		if before := at(t, spec, want.Add(-1)); before.Window != got.Window || !before.Next.Equal(want) {
			t.Errorf("%v right before %s: the state is %v, want %v", spec, want, before, got)
		}
		if after := at(t, spec, want); after.Window != activeAt(spec, zone, want) || !after.Next.After(want) {
			t.Errorf("%v at %s: the state is %v", spec, want, after)
		}
	})
}

// windowFrom makes a window of any three numbers. The bits of days are the days of the week.
func windowFrom(start, end int, days byte) schedulev2.Window {
	start, end = start%day, end%(day+1)
	if start == end {
		end = (end + 1) % (day + 1)
	}
	var on []schedulev2.Day
	for i, day := range weekdays {
		if days&(1<<i) != 0 {
			on = append(on, day)
		}
	}
	return between(timeOfDay(start), timeOfDay(end), int32(start%7), on...)
}

var instants = flag.Int("instants", 50_000, "how many instants TestAtAtManyInstants compares")

// Random schedules, each at every minute of some days. The brute force goes through them from the
// last minute to the first, so it knows the next transition of each.
func TestAtAtManyInstants(t *testing.T) {
	const minutes = 5000
	random := rand.New(rand.NewPCG(1, 2))
	for compared := 0; compared < *instants; {
		spec := &schedulev2.TDSetSpec{TimeZone: zones[random.IntN(len(zones))], DefaultReplicas: 10}
		for range random.IntN(6) {
			days := byte(0)
			if random.IntN(2) == 0 {
				days = byte(random.IntN(128))
			}
			spec.Windows = append(spec.Windows, windowFrom(random.IntN(day), random.IntN(day), days))
		}
		zone, err := Location(spec)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Date(2000+random.IntN(60), time.January, 1+random.IntN(366), 0, random.IntN(day), 0, 0, time.UTC)
		active := activeAt(spec, zone, begin.Add(minutes*time.Minute))
		var next time.Time // zero: not within these minutes
		for i := minutes - 1; i >= 0; i-- {
			now := begin.Add(time.Duration(i) * time.Minute)
			if before := activeAt(spec, zone, now); before != active {
				active, next = before, now.Add(time.Minute)
			}
			got := at(t, spec, now)
			if got.Window != active || !next.IsZero() && !got.Next.Equal(next) || next.IsZero() && !got.Next.IsZero() && !got.Next.After(begin.Add(minutes*time.Minute)) {
				t.Fatalf("%v at %s: got %+v, want window %d until %s", spec, now.In(zone), got, active, next.In(zone))
			}
			compared++
		}
	}
}

// FuzzValidate validates any schedule. If it is valid, At has to accept it, and its windows have
// distinct names.
func FuzzValidate(f *testing.F) {
	f.Add("Europe/Berlin", int32(3), int64(0), "office", "09:00", "17:30", "Mon", int32(5), "night", "19:00", "00:00")
	f.Add("", int32(1), int64(1<<40), "a", "22:00", "06:00", "", int32(0), "b", "00:00", "24:00")
	f.Add("UTC", int32(1), int64(-1<<40), "a", "19:00", "00:00", "Sun", int32(2), "a", "19:00", "24:00")
	f.Add("Local", int32(0), int64(0), "default", "9:00", "9:00", "mon", int32(-1), "A", "24:00", "24:01")
	f.Add("../../etc/passwd", int32(-1), int64(0), "", "", "", "Monday", int32(1001), "-", "\x00", "::")
	path := field.NewPath("spec")
	f.Fuzz(func(t *testing.T, zone string, defaultReplicas int32, seconds int64, name, start, end, day string, replicas int32, name2, start2, end2 string) {
		spec := &schedulev2.TDSetSpec{TimeZone: zone, DefaultReplicas: defaultReplicas, Windows: []schedulev2.Window{
			{Name: name, Start: start, End: end, Replicas: replicas}, {Name: name2, Start: start2, End: end2},
		}}
		if day != "" {
			spec.Windows[0].Days = []schedulev2.Day{schedulev2.Day(day)}
		}

		refused := Validate(spec, path)
		warnings := Warnings(spec, path)
		state, err := At(spec, time.Unix(seconds, 0))

		switch {
		case len(refused) > 0:
			return
		case err != nil:
			t.Errorf("%v is valid, but At returns the error %v", spec, err)
		case state.Window < None || state.Window > 1 || state.Replicas < 0 || state.Replicas > maxReplicas:
			t.Errorf("%v is valid, but its state is %v", spec, state)
		case Name(spec, 0) == Name(spec, 1):
			t.Errorf("%v is valid, but both windows have the name %s", spec, Name(spec, 0))
		case state.Window == None && len(warnings) == 0:
			t.Errorf("%v has a minute in no window, want a warning", spec)
		}
	})
}
