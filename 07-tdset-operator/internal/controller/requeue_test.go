// When a TDSet is requeued: at the next transition or after its interval, by the injected clock.

package controller

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

func TestRequeueAt(t *testing.T) {
	never := time.Time{}
	for name, test := range map[string]struct {
		minutes int32     // the interval; 0 means none
		next    time.Time // the next transition
		want    time.Duration
	}{
		"at the next transition":                              {0, at(12, 5), 5 * time.Minute},
		"within a fraction of a millisecond":                  {0, noon.Add(time.Microsecond), time.Millisecond},
		"after the longest pause, if the transition is later": {0, at(17, 0), longestPause},
		"at once, if the transition has passed meanwhile":     {0, at(11, 59), time.Millisecond},
		"after the interval, if that ends first":              {5, at(17, 0), 5 * time.Minute},
		"at the next transition, if that is first":            {24 * 60, at(12, 9), 9 * time.Minute},
		"after the interval, if nothing changes":              {5, never, 5 * time.Minute},
		"after the longest pause, if the interval is longer":  {30, never, longestPause},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)

			got := c.requeueAt(aTDSet(withInterval(test.minutes)), test.next)

			if got.RequeueAfter != test.want {
				t.Errorf("requeued after %v, want %v", got.RequeueAfter, test.want)
			}
		})
	}
}

// If a transition passes during a reconcile, its result is out of date, so the controller is
// requeued at once.
func TestATransitionDuringAReconcile(t *testing.T) {
	tdset := aTDSet(known)
	c := newCluster(t, tdset, deploymentOf(tdset, scaledTo(1)))
	c.clock.now = at(17, 0).Add(-time.Second)
	c.beforeApply = func() { c.beforeApply, c.clock.now = nil, at(17, 0).Add(time.Second) }

	result, err := c.sync()

	must(t, err)
	if got, want := result.RequeueAfter, time.Millisecond; c.objects() != "5 × nginx:1.0" || got != want {
		t.Errorf("got the objects %q, requeued after %v, want %v", c.objects(), got, want)
	}
	if c.settle(); c.objects() != "3 × nginx:1.0" {
		t.Errorf("after the next call, got the objects %q, want 3 replicas", c.objects())
	}
}

// If Reconcile is only called when its own results ask for it, it is still called at each
// transition of a whole year.
func TestAYearOfTransitions(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "Asia/Kolkata"} {
		t.Run(zone, func(t *testing.T) {
			location, err := time.LoadLocation(zone)
			must(t, err)
			tdset := aTDSet(known, in(zone))
			c := newCluster(t)
			c.clock.now = time.Date(2026, time.January, 1, 0, 0, 0, 0, location)
			count := 0
			for end := c.clock.now.AddDate(1, 0, 0); ; count++ {
				state, err := stateAt(tdset, c.clock.now)
				must(t, err)
				for c.clock.now.Before(state.Next) {
					c.clock.now = c.clock.now.Add(c.requeueAt(tdset, state.Next).RequeueAfter)
				}
				if !c.clock.now.Before(end) {
					break
				}
				local := c.clock.now.In(location)
				if clock := local.Format("15:04:05.000"); clock != "09:00:00.000" && clock != "17:00:00.000" && clock != "19:00:00.000" {
					t.Errorf("called at %v, want a transition", local)
				}
			}
			if want := 3 * 365; count != want {
				t.Errorf("got %d transitions in a year, want %d", count, want)
			}
		})
	}
}

// The queue retries failures, at first at once, and in the end once a minute. It is first come,
// first served: with priorities, TDSets that were created while the program was down would wait for
// all later events.
func TestTheQueue(t *testing.T) {
	queue := controllerOptions().RateLimiter
	var pauses []time.Duration
	for range 20 {
		pauses = append(pauses, queue.When(reconcile.Request{NamespacedName: web}))
	}
	if first, last := pauses[0], pauses[19]; first != 5*time.Millisecond || last != time.Minute || !slices.IsSorted(pauses) || *controllerOptions().UsePriorityQueue {
		t.Errorf("the backoff is %v, and the options are %+v", pauses, controllerOptions())
	}
}

// An event is recorded once for each change, and only after the status was written.
func TestEventsAreRecordedOnce(t *testing.T) {
	const (
		exists = "Warning ErrResourceExists " + taken
		noZone = `Warning InvalidSchedule spec.timeZone: Invalid value: "Local": unknown time zone: use an IANA name, such as Europe/Berlin or UTC`
	)
	tdset := aTDSet()
	c := newCluster(t, tdset)
	for _, step := range []struct {
		what string
		do   func()
		want []string
	}{
		{"the TDSet is created", func() {}, []string{"Normal Scaled Window 9-17: 5 replicas"}},
		{"its Deployment becomes available", func() { c.becomesAvailable(c.deployment()) }, nil},
		{"nothing happens", func() {}, nil},
		{"a Pod is lost", func() { c.put(deploymentOf(tdset, withPods(4))) }, nil},
		{"the Pod is replaced", func() { c.put(deploymentOf(tdset, withPods(5))) }, nil},
		{"the window ends", func() { c.clock.now = at(17, 0) }, []string{"Normal Scaled Window 17-19: 3 replicas"}},
		{"time passes", func() { c.clock.now = at(18, 0) }, nil},
		{"the window's replicas change", func() {
			c.change(func(spec *schedulev2.TDSetSpec) { spec.Windows[1].Replicas = 4 })
		}, []string{"Normal Scaled Window 17-19: 4 replicas"}},
		{"the image changes", func() { c.change(func(spec *schedulev2.TDSetSpec) { spec.Container.Image = "nginx:2.0" }) }, nil},
		{"somebody else's Deployment takes the name", func() { c.put(deploymentOf(tdset, unowned)) }, []string{exists}},
		{"that Deployment becomes available", func() { c.put(deploymentOf(tdset, unowned, withPods(5))) }, nil},
		{"the window ends, and the name is still taken", func() { c.clock.now = at(19, 0) }, nil},
		{"the schedule becomes invalid", func() { c.change(func(spec *schedulev2.TDSetSpec) { spec.TimeZone = "Local" }) }, []string{noZone}},
		{"the schedule is corrected", func() { c.change(func(spec *schedulev2.TDSetSpec) { spec.TimeZone = "" }) }, []string{exists}},
		{"the name is free again", func() { c.remove(deploymentOf(tdset)) }, []string{"Normal Recovered No longer degraded: ErrResourceExists is over"}},
		{"the status is written at the second attempt", func() {
			c.clock.now = at(9, 0)
			c.refuseNext("apply tdsets/status", errConflict)
		}, []string{"Normal Scaled Window 9-17: 5 replicas"}},
	} {
		step.do()
		for range 4 { // the queue would retry as often
			_, err := c.sync()
			must(t, err)
		}
		if diff := cmp.Diff(step.want, c.recorded()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", step.what, diff)
		}
	}
}
