//go:build solution

package tests

import (
	"time"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// T is the part of *testing.T that your tests may use. Fatalf ends the test.
type T interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Tests each get the At that they test. For one that keeps the rules, no test may report an error.
// For each one that breaks a rule, at least one test must.
var Tests = []func(t T, at At){
	testRules,
}

// The windows of the tests.
var (
	office = schedulev2.Window{Name: "office", Start: "09:00", End: "17:00", Replicas: 5}
	night  = schedulev2.Window{Name: "night", Start: "22:00", End: "06:00", Replicas: 2}
	always = schedulev2.Window{Name: "always", Start: "00:00", End: "24:00", Replicas: 3}
)

// testRules has an instant for each rule. All times are in UTC.
func testRules(t T, at At) {
	for sentence, test := range map[string]struct {
		zone     string
		windows  []schedulev2.Window
		instant  string
		want     int32
		wantNext string // "": never
	}{
		"a window includes its start": {
			windows: []schedulev2.Window{office},
			instant: "2026-03-02T09:00:00Z", want: 5, wantNext: "2026-03-02T17:00:00Z",
		},
		"a window excludes its end": {
			windows: []schedulev2.Window{office},
			instant: "2026-03-02T17:00:00Z", want: 1, wantNext: "2026-03-03T09:00:00Z",
		},
		"times are local: in Tokyo, it is 10:00": {
			zone: "Asia/Tokyo", windows: []schedulev2.Window{office},
			instant: "2026-03-02T01:00:00Z", want: 5, wantNext: "2026-03-02T08:00:00Z",
		},
		"a window continues past midnight": {
			windows: []schedulev2.Window{night},
			instant: "2026-03-02T03:00:00Z", want: 2, wantNext: "2026-03-02T06:00:00Z",
		},
		"the first window wins where two overlap": {
			windows: []schedulev2.Window{office, always},
			instant: "2026-03-02T12:00:00Z", want: 5, wantNext: "2026-03-02T17:00:00Z",
		},
		"a night of 23 hours: in Berlin, clocks are set forward at 02:00": {
			zone: "Europe/Berlin", windows: []schedulev2.Window{office},
			instant: "2026-03-28T20:00:00Z", want: 1, wantNext: "2026-03-29T07:00:00Z",
		},
	} {
		state, err := at(&schedulev2.TDSetSpec{TimeZone: test.zone, Windows: test.windows, DefaultReplicas: 1}, timeOf(test.instant))
		if err != nil {
			t.Fatalf("%s: got the error %v", sentence, err)
		}
		if state.Replicas != test.want || !state.Next.Equal(timeOf(test.wantNext)) {
			t.Errorf("%s: got %d replicas until %s, want %d until %s", sentence, state.Replicas, state.Next, test.want, test.wantNext)
		}
	}
}

func timeOf(text string) time.Time {
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return instant
}
