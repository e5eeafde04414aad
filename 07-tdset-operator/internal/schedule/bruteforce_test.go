// A brute-force schedule, which looks at every minute. At has to give the same results, for any
// schedule that the fuzzer finds, and for each minute of a year.

package schedule

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// activeAt returns the first window that includes the zone's local hour.
func activeAt(spec *schedulev1.TDSetSpec, zone *time.Location, instant time.Time) int {
	now := int32(instant.In(zone).Hour())
	for i, window := range spec.SchedulingConfig {
		for hour := window.StartTime; ; {
			if hour == now {
				return i
			}
			hour = (hour + 1) % 24
			if hour == window.EndTime%24 {
				break
			}
		}
	}
	return None
}

// replicasOf returns a window's number of replicas.
func replicasOf(spec *schedulev1.TDSetSpec, window int) int32 {
	if window == None {
		return spec.DefaultReplica
	}
	return spec.SchedulingConfig[window].Replica
}

// nextMinute returns the first full minute after instant at which another window is active. If
// there is none within three days, there is none at all, because no zone has skipped more than one
// day.
func nextMinute(spec *schedulev1.TDSetSpec, zone *time.Location, instant time.Time) time.Time {
	window := activeAt(spec, zone, instant)
	minute := instant.Truncate(time.Minute)
	for range 3 * 24 * 60 {
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

// FuzzAt compares At with the brute force: now, at the next transition, and right before it. Three
// bytes make a window.
func FuzzAt(f *testing.F) {
	example := []byte{9, 17, 5, 17, 19, 3, 19, 0, 2, 1, 7, 2, 7, 9, 3}
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
			f.Add(uint8(zone), when.Unix(), uint32(999_999_999), int32(1), []byte{2, 3, 5, 22, 6, 2})
		}
	}
	f.Add(uint8(1), int64(0), uint32(0), int32(1), []byte{})
	f.Add(uint8(1), int64(0), uint32(0), int32(1), []byte{0, 24, 2, 9, 17, 5})

	// The brute force looks at full minutes, but until 1972 some zones had offsets with seconds.
	first, last := time.Date(1973, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	f.Fuzz(func(t *testing.T, zoneIndex uint8, seconds int64, nanoseconds uint32, defaultReplica int32, windows []byte) {
		spec := &schedulev1.TDSetSpec{TimeZone: zones[int(zoneIndex)%len(zones)], DefaultReplica: defaultReplica}
		for ; len(windows) >= 3 && len(spec.SchedulingConfig) < maxWindows; windows = windows[3:] {
			window := aWindow(int32(windows[0]%24), int32(windows[1]%25), int32(windows[2]))
			if window.StartTime != window.EndTime {
				spec.SchedulingConfig = append(spec.SchedulingConfig, window)
			}
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

// FuzzValidate validates any schedule. If it is valid, At has to accept it, and its windows have
// distinct names.
func FuzzValidate(f *testing.F) {
	f.Add("Europe/Berlin", int32(3), int64(0), int32(9), int32(17), int32(5), int32(19), int32(0), int32(2))
	f.Add("", int32(1), int64(1<<40), int32(22), int32(6), int32(0), int32(0), int32(24), int32(1000))
	f.Add("UTC", int32(1), int64(-1<<40), int32(19), int32(0), int32(2), int32(19), int32(24), int32(2))
	f.Add("Local", int32(0), int64(0), int32(9), int32(9), int32(-1), int32(24), int32(25), int32(1001))
	f.Add("+05:30", int32(-1), int64(0), int32(-1), int32(-24), int32(1), int32(1<<31-1), int32(-1<<31), int32(1))
	f.Add("../../etc/passwd", int32(1), int64(0), int32(0), int32(0), int32(0), int32(0), int32(0), int32(0))
	path := field.NewPath("spec")
	f.Fuzz(func(t *testing.T, zone string, defaultReplica int32, seconds int64, start, end, replica, start2, end2, replica2 int32) {
		spec := aSpec(zone, aWindow(start, end, replica), aWindow(start2, end2, replica2))
		spec.DefaultReplica = defaultReplica

		refused := Validate(spec, path)
		warnings := Warnings(spec, path)
		state, err := At(spec, time.Unix(seconds, 0))

		known := err == nil
		for _, reason := range refused {
			if reason.Field == "spec.timeZone" {
				known = !known
			}
		}
		switch {
		case !known:
			t.Errorf("the zone %q: Validate returns %v, but At returns %v", zone, refused, err)
		case len(refused) > 0:
			return
		case err != nil:
			t.Errorf("%v is valid, but At returns the error %v", spec, err)
		case state.Window < None || state.Window > 1 || state.Replicas < 0 || state.Replicas > maxReplicas:
			t.Errorf("%v is valid, but its state is %v", spec, state)
		case Name(spec, 0) == Name(spec, 1):
			t.Errorf("%v is valid, but both windows have the name %s", spec, Name(spec, 0))
		case state.Window == None && len(warnings) == 0:
			t.Errorf("%v has an hour in no window, want a warning", spec)
		}
	})
}
