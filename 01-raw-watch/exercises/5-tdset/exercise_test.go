//go:build check || solution

// These tests check what scheduleAt returns, and then what the program does in a cluster while time
// passes. Their helpers, such as until and wantReplicas, are in cluster_test.go.
//
// As given, the program only reacts to events, and thinks that no window is ever active. `workshop
// test` checks these failures:
//
// fails: TestScheduleAt/before a window: the default, until it begins
// says: the next change is never, want 2026-03-02T09:00:00Z
//
// fails: TestScheduleAt/a window begins with its first hour
// says: got 1 replicas, want 5
//
// fails: TestScheduleAt/a window ends when the hour of its end begins
// says: the next change is never, want 2026-03-03T09:00:00Z
//
// fails: TestScheduleAt/hours are in UTC, even if the instant is in another zone
// says: the next change is never, want 2026-03-02T09:00:00Z
//
// fails: TestScheduleAt/the last hour of the day, with an end of 24
// says: got 1 replicas, want 2
//
// fails: TestScheduleAt/the last hour of the day, with an end of 0
// says: got 1 replicas, want 2
//
// fails: TestScheduleAt/a window past midnight, in the evening
// says: got 1 replicas, want 2
//
// fails: TestScheduleAt/a window past midnight, in the morning
// says: got 1 replicas, want 2
//
// fails: TestScheduleAt/a window past midnight isn't active at noon
// says: the next change is never, want 2026-03-02T22:00:00Z
//
// fails: TestScheduleAt/the whole day: nothing ever changes
// says: got 1 replicas, want 2
//
// fails: TestScheduleAt/a window may have 0 replicas
// says: got 1 replicas, want 0
//
// fails: TestScheduleAt/where windows overlap, the first in the list is active until it ends
// says: got 1 replicas, want 8
//
// fails: TestScheduleAt/where windows overlap, the second is active until the first begins
// says: the active window is -1, want 1
//
// fails: TestScheduleAt/the end of an overlapped window is no change
// says: the next change is never, want 2026-03-02T17:00:00Z
//
// fails: TestScheduleAt/another window with the same number of replicas is a change, too
// says: the next change is never, want 2026-03-02T12:00:00Z
//
// fails: TestScheduleAt/on the last day of a year, the next change is in the next year
// says: the next change is never, want 2027-01-01T09:00:00Z
//
// fails: TestScheduleAtEveryHourOfTheExample
// says: replicas from hour 0 to hour 23 are [3 3 3
//
// fails: TestScheduleAtEveryHourOfManySchedules
// says: got 1 replicas, window -1, next change 0001-01-01
//
// fails: TestRun/a TDSet that existed before the start gets its Deployment, with the replicas of the hour
// says: at 10:00:01 the Deployment has 3 replicas, want 5
//
// fails: TestRun/a TDSet that is created later gets its Deployment at once
// says: at 10:00:01 the Deployment has 3 replicas, want 5
//
// fails: TestRun/a refused create is visible, and a retry writes no status
// says: at 00:07:00 there is no Deployment, want one with 3 replicas
//
// fails: TestRun/for a whole day, the Deployment is scaled exactly at each boundary, and never in between
// says: the writes of the Deployment are [],
//
// fails: TestRun/a new schedule applies at once, and so do its boundaries
// says: at 10:00:01 the Deployment has 3 replicas, want 7
//
// fails: TestRun/the first boundary of a new schedule may be earlier than the old one
// says: at 08:00:00 the Deployment has 3 replicas, want 7
//
// fails: TestRun/two TDSets are each scaled at their own boundaries, and both at a shared one
// says: at 09:00:00 the second TDSet's Deployment has 3 replicas, want 7
//
// fails: TestRun/an event of an unrelated Deployment doesn't cancel a boundary
// says: at 09:00:00 the Deployment has 3 replicas, want 5
//
// fails: TestRun/if the server fails for five minutes at a boundary, the Deployment is scaled within a minute after that
// says: at 09:05:30 the Deployment has 3 replicas, want 5
//
// fails: TestRun/a new image that is set while the server fails is rolled out within a minute after that
// says: the Deployment's image is crccheck/hello-world, want another
//
// fails: TestRun/with intervalMint, the TDSet is checked at least that often
// says: in the eleven minutes before 00:11: got no call of c.clock.Now, want at least one

package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestScheduleAt(t *testing.T) {
	const never = "never"
	for sentence, test := range map[string]struct {
		windows      []Scheduling // the default is 1 replica
		at           string
		wantReplicas int32
		wantWindow   int
		wantNext     string
	}{
		"no windows: the default, forever": {
			at:           "2026-03-02T12:00:00Z",
			wantReplicas: 1, wantWindow: noWindow, wantNext: never,
		},
		"before a window: the default, until it begins": {
			windows: []Scheduling{{StartTime: 9, EndTime: 17, Replica: 5}}, at: "2026-03-02T08:59:59.999Z",
			wantReplicas: 1, wantWindow: noWindow, wantNext: "2026-03-02T09:00:00Z",
		},
		"a window begins with its first hour": {
			windows: []Scheduling{{StartTime: 9, EndTime: 17, Replica: 5}}, at: "2026-03-02T09:00:00Z",
			wantReplicas: 5, wantWindow: 0, wantNext: "2026-03-02T17:00:00Z",
		},
		"a window ends when the hour of its end begins": {
			windows: []Scheduling{{StartTime: 9, EndTime: 17, Replica: 5}}, at: "2026-03-02T17:00:00Z",
			wantReplicas: 1, wantWindow: noWindow, wantNext: "2026-03-03T09:00:00Z",
		},
		"hours are in UTC, even if the instant is in another zone": {
			windows: []Scheduling{{StartTime: 9, EndTime: 17, Replica: 5}}, at: "2026-03-02T14:15:00+05:30",
			wantReplicas: 1, wantWindow: noWindow, wantNext: "2026-03-02T09:00:00Z",
		},
		"the last hour of the day, with an end of 24": {
			windows: []Scheduling{{StartTime: 19, EndTime: 24, Replica: 2}}, at: "2026-03-02T23:59:59Z",
			wantReplicas: 2, wantWindow: 0, wantNext: "2026-03-03T00:00:00Z",
		},
		"the last hour of the day, with an end of 0": {
			windows: []Scheduling{{StartTime: 19, EndTime: 0, Replica: 2}}, at: "2026-03-02T23:59:59Z",
			wantReplicas: 2, wantWindow: 0, wantNext: "2026-03-03T00:00:00Z",
		},
		"a window past midnight, in the evening": {
			windows: []Scheduling{{StartTime: 22, EndTime: 6, Replica: 2}}, at: "2026-03-02T22:30:00Z",
			wantReplicas: 2, wantWindow: 0, wantNext: "2026-03-03T06:00:00Z",
		},
		"a window past midnight, in the morning": {
			windows: []Scheduling{{StartTime: 22, EndTime: 6, Replica: 2}}, at: "2026-03-02T05:30:00Z",
			wantReplicas: 2, wantWindow: 0, wantNext: "2026-03-02T06:00:00Z",
		},
		"a window past midnight isn't active at noon": {
			windows: []Scheduling{{StartTime: 22, EndTime: 6, Replica: 2}}, at: "2026-03-02T12:00:00Z",
			wantReplicas: 1, wantWindow: noWindow, wantNext: "2026-03-02T22:00:00Z",
		},
		"the whole day: nothing ever changes": {
			windows: []Scheduling{{StartTime: 0, EndTime: 24, Replica: 2}}, at: "2026-03-02T12:00:00Z",
			wantReplicas: 2, wantWindow: 0, wantNext: never,
		},
		"a window may have 0 replicas": {
			windows: []Scheduling{{StartTime: 0, EndTime: 6, Replica: 0}}, at: "2026-03-02T03:00:00Z",
			wantReplicas: 0, wantWindow: 0, wantNext: "2026-03-02T06:00:00Z",
		},
		"where windows overlap, the first in the list is active until it ends": {
			windows: []Scheduling{{StartTime: 12, EndTime: 14, Replica: 8}, {StartTime: 9, EndTime: 17, Replica: 5}}, at: "2026-03-02T12:30:00Z",
			wantReplicas: 8, wantWindow: 0, wantNext: "2026-03-02T14:00:00Z",
		},
		"where windows overlap, the second is active until the first begins": {
			windows: []Scheduling{{StartTime: 12, EndTime: 14, Replica: 8}, {StartTime: 9, EndTime: 17, Replica: 5}}, at: "2026-03-02T10:00:00Z",
			wantReplicas: 5, wantWindow: 1, wantNext: "2026-03-02T12:00:00Z",
		},
		"the end of an overlapped window is no change": {
			windows: []Scheduling{{StartTime: 9, EndTime: 17, Replica: 5}, {StartTime: 8, EndTime: 12, Replica: 3}}, at: "2026-03-02T10:00:00Z",
			wantReplicas: 5, wantWindow: 0, wantNext: "2026-03-02T17:00:00Z",
		},
		"another window with the same number of replicas is a change, too": {
			windows: []Scheduling{{StartTime: 9, EndTime: 12, Replica: 5}, {StartTime: 12, EndTime: 17, Replica: 5}}, at: "2026-03-02T10:00:00Z",
			wantReplicas: 5, wantWindow: 0, wantNext: "2026-03-02T12:00:00Z",
		},
		"on the last day of a year, the next change is in the next year": {
			windows: []Scheduling{{StartTime: 9, EndTime: 17, Replica: 5}}, at: "2026-12-31T18:00:00Z",
			wantReplicas: 1, wantWindow: noWindow, wantNext: "2027-01-01T09:00:00Z",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, test.at)
			if err != nil {
				t.Fatal(err)
			}
			replicas, window, next := scheduleAt(TDSetSpec{SchedulingConfig: test.windows, DefaultReplica: 1}, at)

			if replicas != test.wantReplicas {
				t.Errorf("got %d replicas, want %d", replicas, test.wantReplicas)
			}
			if window != test.wantWindow {
				t.Errorf("the active window is %d, want %d", window, test.wantWindow)
			}
			got := never
			if !next.IsZero() {
				got = next.UTC().Format(time.RFC3339Nano)
			}
			if got != test.wantNext {
				t.Errorf("the next change is %s, want %s", got, test.wantNext)
			}
		})
	}
}

// The example in manifests/tdset.yaml, hour by hour.
func TestScheduleAtEveryHourOfTheExample(t *testing.T) {
	spec := example(t).Spec
	var got []int32
	for hour := range 24 {
		replicas, _, _ := scheduleAt(spec, midnight.Add(time.Duration(hour)*time.Hour))
		got = append(got, replicas)
	}

	want := []int32{3, 2, 2, 2, 2, 2, 2, 3, 3, 5, 5, 5, 5, 5, 5, 5, 5, 3, 3, 2, 2, 2, 2, 2}
	if !slices.Equal(got, want) {
		t.Errorf("replicas from hour 0 to hour 23 are %v,\nwant                                %v", got, want)
	}
}

// Random schedules, compared with a result that is found the long way, by marking hours on a dial.
func TestScheduleAtEveryHourOfManySchedules(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		spec := TDSetSpec{DefaultReplica: 1}
		for range random.IntN(5) {
			window := Scheduling{StartTime: random.IntN(24), EndTime: random.IntN(25), Replica: 10 + int32(len(spec.SchedulingConfig))}
			if window.StartTime != window.EndTime { // the CRD refuses those
				spec.SchedulingConfig = append(spec.SchedulingConfig, window)
			}
		}
		active := dial(spec.SchedulingConfig)
		for hour := range 24 {
			at := midnight.Add(time.Duration(hour)*time.Hour + 30*time.Minute)
			wantReplicas := int32(1)
			if active[hour] != noWindow {
				wantReplicas = 10 + int32(active[hour])
			}
			wantNext := time.Time{}
			for later := 1; later < 24 && wantNext.IsZero(); later++ {
				if active[(hour+later)%24] != active[hour] {
					wantNext = midnight.Add(time.Duration(hour+later) * time.Hour)
				}
			}

			replicas, window, next := scheduleAt(spec, at)

			if replicas != wantReplicas || window != active[hour] || !next.Equal(wantNext) {
				t.Fatalf("windows %+v, at %s:\ngot %d replicas, window %d, next change %s,\nwant %d replicas, window %d, next change %s",
					spec.SchedulingConfig, at.Format(time.TimeOnly), replicas, window, next, wantReplicas, active[hour], wantNext)
			}
		}
	}
}

// dial returns the active window of each hour of the day.
func dial(windows []Scheduling) (active [24]int) {
	for hour := range active {
		active[hour] = noWindow
	}
	for i, window := range windows {
		for hour := window.StartTime; ; {
			if active[hour] == noWindow {
				active[hour] = i
			}
			if hour = (hour + 1) % 24; hour == window.EndTime%24 {
				break
			}
		}
	}
	return active
}

func TestRun(t *testing.T) {
	for sentence, test := range map[string]func(c *cluster){
		"a TDSet that existed before the start gets its Deployment, with the replicas of the hour": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.wantReplicas(5)
			})
		},
		"a TDSet that is created later gets its Deployment at once": func(c *cluster) {
			c.until("10:00")
			c.running(func() {
				c.putTDSet()
				c.wantReplicas(5)
			})
		},
		"nothing is written for a TDSet that is being deleted": func(c *cluster) {
			c.putTDSet(func(tdset *TDSet) {
				tdset.DeletionTimestamp = &metav1.Time{Time: midnight}
				tdset.Finalizers = []string{metav1.FinalizerDeleteDependents}
			})
			c.running(func() {
				c.wantNothingWritten()
			})
		},
		"a new image is rolled out": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) { tdset.Spec.Container.Image = "another" })
				c.wantImage("another")
			})
		},
		"a manual change is reverted, and a deleted Deployment is created again": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.changeDeployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) })
				c.wantReplicas(3)
				c.remove("deployments")
				c.wantReplicas(3)
			})
		},
		"a Deployment is created again even if the watch missed its deletion": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.removeUnseen("deployments")
				c.until("00:05")
				c.wantReplicas(3)
			})
		},
		"someone else's Deployment is left alone, and replaced only after it is deleted": func(c *cluster) {
			c.putTDSet()
			other := desiredDeployment(example(c.T), 1)
			other.OwnerReferences = nil
			c.put(other, "deployments")
			c.running(func() {
				c.wantReplicas(1)
				c.wantReason(reasonResourceExists)
				c.remove("deployments")
				c.wantReplicas(3)
			})
		},
		"the status follows the Deployment": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.wantReason(reasonProgressing)
				c.changeDeployment(available)
				c.wantReason(reasonAsScheduled)
			})
		},
		"the status says why the Deployment gets no Pods": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.changeDeployment(func(d *appsv1.Deployment) {
					d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate"}}
				})
				c.wantReason(reasonReplicaFailure)
			})
		},
		"a refused create is visible, and a retry writes no status": func(c *cluster) {
			c.locked(func() { c.api.refusing = true })
			c.putTDSet()
			c.running(func() {
				c.until("00:05")
				c.wantReason(reasonRefused)
				if c.api.refused < 2 || len(c.status) != 1 {
					c.Errorf("the create was refused %d times, and the status written %d times, want several times, and once", c.api.refused, len(c.status))
				}
				c.locked(func() { c.api.refusing = false })
				c.until("00:07")
				c.wantReplicas(3)
			})
		},
		"for a whole day, the Deployment is scaled exactly at each boundary, and never in between": func(c *cluster) {
			c.putTDSet()
			c.running(func() {
				c.scaled, c.status = nil, nil
				c.until("11:00")
				c.clock.calls()
				c.until("16:30")
				c.wantNoCalls("from 11:00 to 16:30, when nothing changes")
				c.until("00:30")
			})
			c.wantScaled("01:00:00: 2", "07:00:00: 3", "09:00:00: 5", "17:00:00: 3", "19:00:00: 2", "00:00:00: 3")
			if len(c.status) > len(c.scaled) {
				c.Errorf("the status was written at %q, want at most as many writes as of the Deployment", c.status)
			}
		},
		"a new schedule applies at once, and so do its boundaries": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) {
					tdset.Spec.SchedulingConfig = []Scheduling{{StartTime: 8, EndTime: 20, Replica: 7}}
				})
				c.wantReplicas(7)
				c.until("20:00")
				c.wantReplicas(3)
			})
		},
		"the first boundary of a new schedule may be earlier than the old one": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) {
					tdset.Spec.SchedulingConfig = []Scheduling{{StartTime: 8, EndTime: 12, Replica: 7}}
				})
				c.until("12:00")
				c.wantReplicas(3)
				c.until("08:00")
				c.wantReplicas(7)
			})
		},
		"two TDSets are each scaled at their own boundaries, and both at a shared one": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.putAnother(Scheduling{StartTime: 9, EndTime: 11, Replica: 7}, Scheduling{StartTime: 12, EndTime: 17, Replica: 8})
			c.running(func() {
				c.wantReplicasOfBoth(3, 3)
				c.until("09:00")
				c.wantReplicasOfBoth(5, 7)
				c.until("11:00")
				c.wantReplicasOfBoth(5, 3)
				c.until("12:00")
				c.wantReplicasOfBoth(5, 8)
				c.until("17:00")
				c.wantReplicasOfBoth(3, 3)
				c.until("19:00")
				c.wantReplicasOfBoth(2, 3)
			})
		},
		"an event of an unrelated Deployment doesn't cancel a boundary": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.putUnrelated()
				c.until("09:00")
				c.wantReplicas(5)
			})
		},
		"the boundaries of a replaced schedule are forgotten": func(c *cluster) {
			c.until("10:00")
			c.putTDSet()
			c.running(func() {
				c.putTDSet(func(tdset *TDSet) {
					tdset.Spec.SchedulingConfig = []Scheduling{{StartTime: 8, EndTime: 20, Replica: 7}}
				})
				c.clock.calls()
				c.until("17:30")
				c.wantNoCalls("at 17:00, a boundary of the old schedule")
			})
		},
		"a deleted TDSet is forgotten": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.remove("tdsets")
				c.clock.calls()
				c.until("09:30")
				c.wantNoCalls("at 09:00, a boundary of the deleted TDSet")
			})
		},
		"a deleted TDSet is forgotten even if the watch missed its deletion": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.removeUnseen("tdsets")
				c.until("08:30")
				c.clock.calls()
				c.until("09:30")
				c.wantNoCalls("at 09:00, a boundary of the deleted TDSet")
			})
		},
		"if the server fails for five minutes at a boundary, the Deployment is scaled within a minute after that": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.clock.calls()
				c.failing("08:59:30", "09:04:30")
				if calls := c.clock.calls(); calls > 100 {
					c.Errorf("while the server failed: got %d calls of c.clock.Now, want at most 100: increase the pause between retries", calls)
				}
				c.until("09:05:30")
				c.wantReplicas(5)
				c.until("17:00")
				c.wantReplicas(3)
			})
		},
		"a new image that is set while the server fails is rolled out within a minute after that": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {
				c.failing("08:10:30", "08:12", func() {
					c.putTDSet(func(tdset *TDSet) { tdset.Spec.Container.Image = "another" })
				})
				c.until("08:13:10")
				c.wantImage("another")
			})
		},
		"with intervalMint, the TDSet is checked at least that often": func(c *cluster) {
			c.putTDSet(func(tdset *TDSet) {
				tdset.Spec.SchedulingConfig = []Scheduling{}
				tdset.Spec.IntervalMint = 10
			})
			c.running(func() {
				for _, at := range []string{"00:11", "00:22", "00:33"} {
					c.clock.calls()
					if c.until(at); c.clock.calls() == 0 {
						c.Errorf("in the eleven minutes before %s: got no call of c.clock.Now, want at least one", at)
					}
				}
			})
		},
		"after the shutdown, nothing happens at a boundary": func(c *cluster) {
			c.until("08:00")
			c.putTDSet()
			c.running(func() {})
			c.clock.calls()
			c.until("09:30")
			c.wantNoCalls("at 09:00, after the shutdown")
		},
	} {
		t.Run(sentence, func(t *testing.T) { inACluster(t, (*controller).run, test) })
	}
}
