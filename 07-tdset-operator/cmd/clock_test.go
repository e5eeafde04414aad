// The clock for trying things out, in bubbles of testing/synctest, whose own clocks begin with the year 2000 and cost no time; and its
// flags.

package main

import (
	"flag"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"example.com/operators/07-tdset-operator/internal/controller"
)

func TestClock(t *testing.T) {
	noon := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	for sentence, test := range map[string]struct {
		time  passing
		waits time.Duration
		want  time.Time // that the clock shows then; the zero time: the bubble's
	}{
		"nothing is said: it is the computer's time":    {passing{speed: 1}, time.Hour, time.Time{}},
		"another start, and time passes as ever":        {passing{noon, 1}, time.Hour, noon.Add(time.Hour)},
		"the computer's start, and time passes quickly": {passing{speed: 3600}, time.Second, time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)},
		"another start, and time passes quickly":        {passing{noon, 2880}, 30 * time.Second, noon.AddDate(0, 0, 1)},
		"time stands still":                             {passing{noon, 0}, time.Hour, noon},
		"time stands still, when it began":              {passing{speed: 0}, time.Hour, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"a day a second, for a year of the computer's":  {passing{noon, fastest}, 365 * 24 * time.Hour, noon.Add(forever)},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := test.time.clock()

				<-time.After(test.waits)

				want := test.want
				if want.IsZero() {
					want = time.Now()
				}
				if got := clock.Now(); !got.Equal(want) {
					t.Errorf("after %v it shows %v, want %v", test.waits, got, want)
				}
			})
		})
	}
}

func TestTheComputersTimeIsTheControllersDefault(t *testing.T) {
	if clock := (passing{speed: 1}).clock(); clock != (controller.RealClock{}) {
		t.Errorf("it is a %T", clock)
	}
}

// Who waits as long as Until says comes neither too early, nor later than a nanosecond of the computer's time.
func TestUntil(t *testing.T) {
	start := time.Date(2026, 3, 29, 0, 59, 50, 123, time.UTC)
	for sentence, test := range map[string]struct {
		speed int64
		after time.Duration // the start
		want  time.Duration
	}{
		"as fast as ever":                         {1, 10 * time.Second, 10 * time.Second},
		"an hour in a second":                     {3600, time.Hour, time.Second},
		"rounded up":                              {3600, time.Hour + 1, time.Second + 1},
		"the shortest wait":                       {3600, 1, 1},
		"it has just come":                        {3600, 0, 0},
		"it has passed":                           {3600, -time.Hour, -time.Hour},
		"time stands still, before it":            {0, 1, forever},
		"time stands still, and it has come":      {0, 0, 0},
		"time stands still, after it":             {0, -time.Hour, -time.Hour},
		"it is too far away to be counted":        {1, 1<<63 - 1, forever},
		"it is far away, and time passes quickly": {fastest, forever, 36500 * time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock, instant := passing{start, test.speed}.clock(), start.Add(test.after)

				wait := clock.Until(instant)

				if wait != test.want {
					t.Errorf("it waits %v, want %v", wait, test.want)
				}
				if wait <= 0 || wait == forever {
					return
				}
				<-time.After(wait)
				if late := clock.Now().Sub(instant); late < 0 || late >= time.Duration(test.speed) {
					t.Errorf("it comes %v too late", late)
				}
			})
		})
	}
}

func TestFlagsOfTheClock(t *testing.T) {
	for sentence, test := range map[string]struct {
		args    []string
		want    passing
		wantErr string
	}{
		"none":                 {nil, passing{speed: 1}, ""},
		"both":                 {[]string{"--now=2026-01-01T08:59:50Z", "--clock-speed=0"}, passing{time.Date(2026, 1, 1, 8, 59, 50, 0, time.UTC), 0}, ""},
		"a word for a time":    {[]string{"--now=noon"}, passing{}, `invalid value "noon" for flag -now: no time such as 2026-01-01T08:59:50Z`},
		"a time without zone":  {[]string{"--now=2026-01-01T08:59:50"}, passing{}, `invalid value "2026-01-01T08:59:50" for flag -now: no time such as 2026-01-01T08:59:50Z`},
		"a word for a speed":   {[]string{"--clock-speed=fast"}, passing{}, `invalid value "fast" for flag -clock-speed: parse error`},
		"a speed that is half": {[]string{"--clock-speed=0.5"}, passing{}, `invalid value "0.5" for flag -clock-speed: parse error`},
	} {
		t.Run(sentence, func(t *testing.T) {
			all := flag.CommandLine
			t.Cleanup(func() { flag.CommandLine = all })
			flag.CommandLine = flag.NewFlagSet("", flag.ContinueOnError)
			flag.CommandLine.SetOutput(io.Discard)
			var got passing
			got.flags()

			err := flag.CommandLine.Parse(test.args)

			if said := text(err); said != test.wantErr {
				t.Fatalf("got the error %q, want %q", said, test.wantErr)
			}
			if err == nil && got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
