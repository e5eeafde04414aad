//go:build check || solution

// Each case has two scrapes of one queue, a minute apart. The numbers of the ill queues are those
// that the chapter's test TestMetricsAfterAMinute prints.
//
// fails: TestDiagnose/a burst of events is being worked off
// says: got growing, want healthy: there were 900 keys in the queue, and now there are 300
//
// fails: TestDiagnose/a worker waits for an answer that never comes
// says: got growing, want stuck
//
// fails: TestDiagnose/the last worker is stuck, so the queue grows as well
// says: got growing, want stuck
//
// fails: TestDiagnose/ten keys fail again and again
// says: got healthy, want failing: nothing waits
//
// fails: TestDiagnose/each sync causes the next one
// says: got healthy, want hot loop
//
// fails: TestDiagnose/some keys wait, and a worker takes them at once
// says: got growing, want healthy: keys wait for ten milliseconds
//
// fails: TestAfterARestart
// says: got healthy, want failing
//
// fails: TestDiagnose/some keys wait, and last week, keys waited for hours
// says: got growing, want healthy
//
// fails: TestDiagnose/ten keys fail again and again, after a week without a failure
// says: got healthy, want failing

package diagnosis

import (
	"testing"
	"time"
)

func TestDiagnose(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, now Scrape
		objects     int
		want        Illness
		why         string
	}{
		"ten events a second, and each is handled at once": {
			now:     Scrape{Adds: 600, Waits: 600, WaitTime: 0.06},
			objects: 100,
			want:    Healthy,
		},
		"nothing happens": {
			before: Scrape{Adds: 600, Waits: 600}, now: Scrape{Adds: 600, Waits: 600},
			objects: 100,
			want:    Healthy,
		},
		"some keys wait, and a worker takes them at once": {
			before: Scrape{Depth: 1, Adds: 100, Waits: 99}, now: Scrape{Depth: 3, Adds: 700, Waits: 697, WaitTime: 6},
			objects: 100,
			want:    Healthy,
			why:     "keys wait for ten milliseconds on average, which isn't long",
		},
		"a burst of events is being worked off": {
			before: Scrape{Depth: 900, Adds: 1000, Waits: 100, WaitTime: 100}, now: Scrape{Depth: 300, Adds: 1000, Waits: 700, WaitTime: 15_000},
			objects: 1000,
			want:    Healthy,
			why:     "there were 900 keys in the queue, and now there are 300",
		},
		"the work takes too long for so many events": {
			now:     Scrape{Depth: 480, Adds: 600, Waits: 120, WaitTime: 2832, Longest: 0.9},
			objects: 600,
			want:    Growing,
		},
		"the work takes too long since a minute, after a week without a problem": {
			before: Scrape{Adds: 90_000, Waits: 90_000, WaitTime: 900}, now: Scrape{Depth: 480, Adds: 90_600, Waits: 90_120, WaitTime: 3732, Longest: 0.9},
			objects: 600,
			want:    Growing,
			why:     "only the last minute counts",
		},
		"some keys wait, and last week, keys waited for hours": {
			before: Scrape{Depth: 1, Adds: 90_000, Waits: 89_999, WaitTime: 2_000_000}, now: Scrape{Depth: 3, Adds: 90_600, Waits: 90_597, WaitTime: 2_000_006},
			objects: 600,
			want:    Healthy,
			why:     "only the last minute counts",
		},
		"a worker waits for an answer that never comes": {
			before: Scrape{Depth: 1, Adds: 542, Waits: 541, Longest: 59.6}, now: Scrape{Depth: 1, Adds: 1084, Waits: 1083, Longest: 119.6},
			objects: 100,
			want:    Stuck,
			why:     "one worker has been busy with the same key for two minutes",
		},
		"the last worker is stuck, so the queue grows as well": {
			before: Scrape{Depth: 10, Adds: 600, Waits: 590, Longest: 70}, now: Scrape{Depth: 610, Adds: 1200, Waits: 590, Longest: 130},
			objects: 1000,
			want:    Stuck,
			why:     "more workers would only help until they are stuck too",
		},
		"ten keys fail again and again": {
			now:     Scrape{Adds: 140, Retries: 140, Waits: 140},
			objects: 1000,
			want:    Failing,
			why:     "nothing waits, because keys that wait for their backoff aren't in the queue",
		},
		"ten keys fail again and again, after a week without a failure": {
			before: Scrape{Adds: 90_000, Waits: 90_000}, now: Scrape{Adds: 90_140, Retries: 140, Waits: 90_140},
			objects: 1000,
			want:    Failing,
			why:     "only the last minute counts",
		},
		"a few conflicts are retried": {
			now:     Scrape{Adds: 620, Retries: 20, Waits: 620, WaitTime: 0.1},
			objects: 100,
			want:    Healthy,
			why:     "a conflict is normal, and its retry succeeds",
		},
		"each sync causes the next one": {
			now:     Scrape{Adds: 6010, Waits: 6010, WaitTime: 0.6},
			objects: 1,
			want:    HotLoop,
			why:     "one object is processed 100 times a second, and nothing fails",
		},
		"ten events a second, for a week": {
			before: Scrape{Adds: 6_000_000, Waits: 6_000_000, WaitTime: 600}, now: Scrape{Adds: 6_000_600, Waits: 6_000_600, WaitTime: 600.06},
			objects: 100,
			want:    Healthy,
			why:     "only the last minute counts",
		},
		"many objects have as many events": {
			now:     Scrape{Adds: 6010, Waits: 6010, WaitTime: 0.6},
			objects: 1000,
			want:    Healthy,
			why:     "each object is processed once in ten seconds",
		},
		"the program was started again, and each object is added once": {
			before: Scrape{Adds: 90_000, Retries: 400, Waits: 90_000, WaitTime: 900}, now: Scrape{Adds: 1000, Waits: 1000, WaitTime: 4000},
			objects: 1000,
			want:    Healthy,
			why:     "the counters have begun with 0 again",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			test.now.At = test.before.At.Add(time.Minute)
			if got := Diagnose(test.before, test.now, test.objects); got != test.want {
				t.Errorf("got %s, want %s: %s", got, test.want, test.why)
			}
		})
	}
}

// After a restart, the counters are smaller than before. What has happened since is still ill.
func TestAfterARestart(t *testing.T) {
	before := Scrape{Adds: 90_000, Retries: 900, Waits: 90_000, WaitTime: 900}
	now := Scrape{At: before.At.Add(time.Minute), Adds: 2000, Retries: 1500, Waits: 2000}
	if got := Diagnose(before, now, 1000); got != Failing {
		t.Errorf("got %s, want %s: there have been 2000 adds and 1500 retries since the restart", got, Failing)
	}
}
