// Simulated days: when the Deployment is scaled, and to how many replicas. See bubble_test.go.

package controller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Each case is a day from midnight to midnight. A scaling that has the second of its transition is
// late by less than a second.
func TestADay(t *testing.T) {
	office := []schedulev2.Window{aWindow(9, 17, 5), aWindow(17, 19, 3)}
	night := []schedulev2.Window{aWindow(2, 3, 7), aWindow(22, 4, 4)}
	for name, test := range map[string]struct {
		zone, day string
		windows   []schedulev2.Window
		want      []string // the Deployment's scalings
	}{
		"in UTC": {
			"UTC", "2026-01-15", office,
			[]string{"00:00:00 UTC: 2", "09:00:00 UTC: 5", "17:00:00 UTC: 3", "19:00:00 UTC: 2"},
		},
		"in Berlin, in winter": {
			"Europe/Berlin", "2026-01-15", office,
			[]string{"00:00:00 CET: 2", "09:00:00 CET: 5", "17:00:00 CET: 3", "19:00:00 CET: 2"},
		},
		"in Berlin, when clocks are set forward: hour 2 is skipped": {
			"Europe/Berlin", "2026-03-29", night,
			[]string{"00:00:00 CET: 4", "04:00:00 CEST: 2", "22:00:00 CEST: 4"},
		},
		"in Berlin, when clocks are set forward: a window starts in the skipped hour": {
			"Europe/Berlin", "2026-03-29", []schedulev2.Window{aWindow(2, 6, 7)},
			[]string{"00:00:00 CET: 2", "03:00:00 CEST: 7", "06:00:00 CEST: 2"},
		},
		"in Berlin, when clocks are set back: hour 2 is repeated": {
			"Europe/Berlin", "2026-10-25", night,
			[]string{"00:00:00 CEST: 4", "02:00:00 CEST: 7", "03:00:00 CET: 4", "04:00:00 CET: 2", "22:00:00 CET: 4"},
		},
		"in Kolkata, with an offset of half an hour": {
			"Asia/Kolkata", "2026-01-15", office,
			[]string{"00:00:00 IST: 2", "09:00:00 IST: 5", "17:00:00 IST: 3", "19:00:00 IST: 2"},
		},
		"with a window up to midnight": {
			"UTC", "2026-01-15", []schedulev2.Window{aWindow(19, 0, 5)},
			[]string{"00:00:00 UTC: 2", "19:00:00 UTC: 5"},
		},
		"with a window that is always active": {
			"UTC", "2026-01-15", []schedulev2.Window{aWindow(0, 24, 5)},
			[]string{"00:00:00 UTC: 5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, aTDSet(in(test.zone), with(test.windows...)))
				midnight := c.beginAt(test.zone, test.day+" 00:00:00")
				c.run(c.TDSetReconciler)

				c.waitUntil(midnight.AddDate(0, 0, 1).Add(-time.Second))

				if diff := cmp.Diff(test.want, c.scaled); diff != "" {
					t.Errorf("replicas (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// After a transition during the downtime, a restart scales at once, and then at the next
// transition.
func TestRestartAfterATransition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, aTDSet())
		midnight := c.beginAt("UTC", "2026-01-15 00:00:00")
		stop := c.run(c.TDSetReconciler)
		c.waitUntil(midnight.Add(16 * time.Hour))
		stop()
		c.waitUntil(midnight.Add(17*time.Hour + 30*time.Minute)) // half an hour after the window's end
		c.run(c.TDSetReconciler)
		c.waitUntil(midnight.Add(20 * time.Hour))

		want := []string{"00:00:00 UTC: 2", "09:00:00 UTC: 5", "17:30:00 UTC: 3", "19:00:00 UTC: 2"}
		if diff := cmp.Diff(want, c.scaled); diff != "" {
			t.Errorf("replicas (-want +got):\n%s", diff)
		}
	})
}

// If the clock is set, the controller catches up within longestPause.
func TestTheClockIsSet(t *testing.T) {
	for name, test := range map[string]struct {
		to   string
		want []string
	}{
		"forward, to another window": {"10:00:00.5", []string{"08:00:00 UTC: 2", "10:09:00 UTC: 5", "17:00:00 UTC: 3"}},
		"forward, past a window":     {"18:00:00.5", []string{"08:00:00 UTC: 2", "18:09:00 UTC: 3", "19:00:00 UTC: 2"}},
		"forward, in the same one":   {"08:50:00.5", []string{"08:00:00 UTC: 2", "09:00:00 UTC: 5"}},
		"back, in the same one":      {"07:00:00.5", []string{"08:00:00 UTC: 2", "09:00:00 UTC: 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, aTDSet())
				start := c.beginAt("UTC", "2026-01-15 08:00:00")
				c.run(c.TDSetReconciler)
				c.waitUntil(start.Add(time.Minute))
				set := c.beginAt("UTC", "2026-01-15 "+test.to)
				c.waitUntil(set.Add(8 * time.Hour))

				t.Logf("at 08:01 the clock is set to %s, and the Deployment is scaled at %v", test.to, c.scaled)
				if diff := cmp.Diff(test.want, c.scaled); diff != "" {
					t.Errorf("replicas (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A Service that is always refused, and retried, delays no scaling.
func TestRefusalsDelayNoScaling(t *testing.T) {
	for name, refusal := range map[string]error{"by a quota": errNotNow, "as invalid": errInvalid} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, aTDSet(withService(80)))
				c.refuseAll("apply services", refusal)
				midnight := c.beginAt("UTC", "2026-01-15 00:00:00")
				c.run(c.TDSetReconciler)
				c.waitUntil(midnight.AddDate(0, 0, 1).Add(-time.Second))

				want := []string{"00:00:00 UTC: 2", "09:00:00 UTC: 5", "17:00:00 UTC: 3", "19:00:00 UTC: 2"}
				if diff := cmp.Diff(want, c.scaled); diff != "" {
					t.Errorf("replicas (-want +got):\n%s", diff)
				}
				if got := c.status(); got != "default: ReplicasAvailable, RolledOut, Refused" {
					t.Errorf("the status is %q, want Refused", got)
				}
			})
		})
	}
}

// A Service whose requests always fail delays a scaling by a minute at most, because that is the
// longest backoff. The status says so once, and is written again only at the next transition.
func TestFailuresDelayAScalingByAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, aTDSet(withService(80)))
		c.refuseAll("apply services", errDiskFull)
		midnight := c.beginAt("UTC", "2026-01-15 00:00:00")
		c.run(c.TDSetReconciler)
		c.waitUntil(midnight.Add(8 * time.Hour))
		c.written()

		c.waitUntil(midnight.Add(10 * time.Hour))

		if len(c.scaled) != 2 || !strings.HasPrefix(c.scaled[1], "09:00:") || c.status() != "9-17: ReplicasAvailable, RolledOut, Failed" {
			t.Errorf("the scalings are %q, and the status is %q, want one at nine, and Failed", c.scaled, c.status())
		}
		attempts := map[string]int{}
		for _, write := range c.written() {
			attempts[write]++
		}
		if services, statuses := attempts["apply services"], attempts["apply tdsets/status"]; services < 120 || services > 130 || statuses > 2 {
			t.Errorf("in two hours, got %d attempts and %d writes of the status, want about one attempt a minute and 2 writes at most", services, statuses)
		}
	})
}
