// What is done about a TDSet. Each case is a cluster before and after: which requests led from one
// to the other is the controller's business, as long as they are few. The Service is in
// objects_test.go, deletion in drain_test.go.

package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

const (
	allIsWell  = "9-17: ReplicasAvailable, RolledOut, AsExpected"
	onItsWay   = "9-17: ReplicasUnavailable, RollingOut, AsExpected"
	nameIsGone = "9-17: ErrResourceExists, ErrResourceExists, ErrResourceExists"
)

func TestReconcile(t *testing.T) {
	tdset := aTDSet(known)
	always := with(schedulev1.Scheduling{EndTime: 24, Replica: 5})
	for name, test := range map[string]struct {
		given    []client.Object
		at       time.Time // noon, if it is missing
		want     string    // objects
		wantSays string    // its status
		// wantWrites is the write budget: a write more is a promise broken.
		wantWrites int
		wantAgain  time.Duration // 0: only when there is an event
	}{
		"a new TDSet gets its finalizer and its Deployment": {
			given: []client.Object{aTDSet()},
			want:  "5 × nginx:1.0", wantSays: onItsWay, wantWrites: 3, wantAgain: 5 * time.Hour,
		},
		"one whose Deployment has become available says so": {
			given: []client.Object{tdset, deploymentOf(tdset, withPods(5))},
			want:  "5 × nginx:1.0", wantSays: allIsWell, wantWrites: 1, wantAgain: 5 * time.Hour,
		},
		"a settled TDSet causes no write": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, withPods(5))},
			want:  "5 × nginx:1.0", wantSays: allIsWell, wantAgain: 5 * time.Hour,
		},
		"one that is settled, a second before its window ends": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, withPods(5))},
			at:    at(17, 0).Add(-time.Second),
			want:  "5 × nginx:1.0", wantSays: allIsWell, wantAgain: time.Second,
		},
		"one whose window has ended": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, withPods(5))},
			at:    at(17, 0),
			want:  "3 × nginx:1.0", wantSays: "17-19: ReplicasAvailable, RollingOut, AsExpected", wantWrites: 2, wantAgain: 2 * time.Hour,
		},
		"one whose window has ended, and another of as many replicas has begun": {
			given: []client.Object{
				aTDSet(settled, with(schedulev1.Scheduling{StartTime: 9, EndTime: 17, Replica: 5}, schedulev1.Scheduling{StartTime: 17, Replica: 5})),
				deploymentOf(tdset, withPods(5)),
			},
			at:   at(17, 0),
			want: "5 × nginx:1.0", wantSays: "17-0: ReplicasAvailable, RolledOut, AsExpected", wantWrites: 1, wantAgain: 7 * time.Hour,
		},
		"one that is in no window": {
			given: []client.Object{tdset},
			at:    at(20, 0),
			want:  "2 × nginx:1.0", wantSays: "default: ReplicasUnavailable, RollingOut, AsExpected", wantWrites: 2, wantAgain: 13 * time.Hour,
		},
		"one whose window is of no replicas": {
			given: []client.Object{aTDSet(known, with(schedulev1.Scheduling{StartTime: 9, EndTime: 17})), deploymentOf(tdset, withPods(0))},
			want:  "0 × nginx:1.0", wantSays: "9-17: ReplicasAvailable, RollingOut, AsExpected", wantWrites: 2, wantAgain: 5 * time.Hour,
		},
		"one whose window never ends isn't requeued": {
			given: []client.Object{aTDSet(known, always)},
			want:  "5 × nginx:1.0", wantSays: "0-24: ReplicasUnavailable, RollingOut, AsExpected", wantWrites: 2,
		},
		"one whose zone is ahead": {
			given: []client.Object{aTDSet(known, in("Asia/Kolkata"))},
			want:  "3 × nginx:1.0", wantSays: "17-19: ReplicasUnavailable, RollingOut, AsExpected", wantWrites: 2, wantAgain: 90 * time.Minute,
		},
		"a changed image reaches the Deployment": {
			given: []client.Object{aTDSet(known, ofImage("nginx:2.0")), deploymentOf(tdset, withPods(5))},
			want:  "5 × nginx:2.0", wantSays: "9-17: ReplicasAvailable, RollingOut, AsExpected", wantWrites: 2, wantAgain: 5 * time.Hour,
		},
		"replicas changed by hand are put back": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, scaledTo(1), withPods(1))},
			want:  "5 × nginx:1.0", wantSays: onItsWay, wantWrites: 2, wantAgain: 5 * time.Hour,
		},
		"an image changed by hand is put back": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, running("nginx:0.9"), withPods(5))},
			want:  "5 × nginx:1.0", wantSays: "9-17: ReplicasAvailable, RollingOut, AsExpected", wantWrites: 2, wantAgain: 5 * time.Hour,
		},
		"a deleted Deployment is created again": {
			given: []client.Object{aTDSet(settled)},
			want:  "5 × nginx:1.0", wantSays: onItsWay, wantWrites: 2, wantAgain: 5 * time.Hour,
		},
		"a Deployment without an owner isn't changed": {
			given: []client.Object{tdset, deploymentOf(tdset, unowned, scaledTo(1), running("nginx:0.9"))},
			want:  "1 × nginx:0.9", wantSays: nameIsGone, wantWrites: 1, wantAgain: 5 * time.Hour,
		},
		"a Deployment of an earlier TDSet of the same name is not touched": {
			given: []client.Object{tdset, deploymentOf(tdset, ofAnEarlierTDSet, scaledTo(1))},
			want:  "1 × nginx:1.0", wantSays: nameIsGone, wantWrites: 1, wantAgain: 5 * time.Hour,
		},
		"a Deployment that has the TDSet among its owners only is not touched": {
			given: []client.Object{tdset, deploymentOf(tdset, ownedOnly, scaledTo(1))},
			want:  "1 × nginx:1.0", wantSays: nameIsGone, wantWrites: 1, wantAgain: 5 * time.Hour,
		},
		"a Deployment that is being deleted isn't changed": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, terminating, scaledTo(1))},
			want:  "1 × nginx:1.0", wantSays: "9-17: Terminating, Terminating, AsExpected", wantWrites: 1, wantAgain: 5 * time.Hour,
		},
		"a TDSet that is gone gets nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)
			if !test.at.IsZero() {
				c.clock.now = test.at
			}

			writes, again := c.settle()

			if got := c.objects(); got != test.want {
				t.Errorf("there is %q, want %q", got, test.want)
			}
			if got := c.says(); got != test.wantSays {
				t.Errorf("the status says %q, want %q", got, test.wantSays)
			}
			if len(writes) != test.wantWrites {
				t.Errorf("got %d writes, want %d: %q", len(writes), test.wantWrites, writes)
			}
			if again != test.wantAgain {
				t.Errorf("it is requeued after %v, want %v", again, test.wantAgain)
			}
		})
	}
}

// Nothing is changed where nobody can tell the desired state. Correcting the schedule enqueues the
// TDSet again.
func TestAnInvalidSchedule(t *testing.T) {
	for name, change := range map[string]func(*schedulev1.TDSet){
		"there is no such zone":          invalid,
		"the zone is the computer's own": in("Local"),
		"a window ends where it begins":  with(schedulev1.Scheduling{StartTime: 9, EndTime: 9, Replica: 1}),
		"a window begins after the day":  with(schedulev1.Scheduling{StartTime: 24, EndTime: 9, Replica: 1}),
		"two windows have the same hours": with(
			schedulev1.Scheduling{StartTime: 9, EndTime: 17, Replica: 1}, schedulev1.Scheduling{StartTime: 9, EndTime: 17, Replica: 2}),
	} {
		t.Run(name, func(t *testing.T) {
			changed := aTDSet(settled, change, withService(80), withInterval(1), ofImage("nginx:2.0"))
			c := newCluster(t, changed, deploymentOf(changed, scaledTo(1), withPods(1), running("nginx:1.0")))

			writes, again := c.settle()

			if got, want := c.objects(), "1 × nginx:1.0"; got != want {
				t.Errorf("there is %q, want %q as before", got, want)
			}
			if got, want := c.says(), ": ReplicasAvailable, InvalidSchedule, InvalidSchedule"; got != want {
				t.Errorf("the status says %q, want %q", got, want)
			}
			if diff := cmp.Diff([]string{"apply tdsets/status"}, writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if again != 0 {
				t.Errorf("it is requeued after %v, and nothing will have changed", again)
			}

			corrected := c.tdset()
			corrected.Spec = aTDSet().Spec
			c.put(corrected)
			if _, again := c.settle(); c.objects() != "5 × nginx:1.0" || c.says() != onItsWay || again != 5*time.Hour {
				t.Errorf("after it was corrected, there is %q, it says %q, and is requeued after %v", c.objects(), c.says(), again)
			}
		})
	}
}

// A new one that is invalid has no Deployment to say anything about.
func TestAnInvalidScheduleFromTheStart(t *testing.T) {
	c := newCluster(t, aTDSet(invalid, withService(80)))

	writes, again := c.settle()

	if got, want := c.says(), ": NoDeployment, NoDeployment, InvalidSchedule"; got != want || c.objects() != "" || again != 0 {
		t.Errorf("the status says %q, want %q; there is %q; it is requeued after %v", got, want, c.objects(), again)
	}
	if diff := cmp.Diff([]string{"patch tdsets", "apply tdsets/status"}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// bookkeeping is what changes with every write, and the kind, which what has a Go type needn't say.
var bookkeeping = cmpopts.IgnoreTypes(metav1.TypeMeta{}, []metav1.ManagedFieldsEntry{})

var counters = cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "Generation")

// When the controller reverts a change of its own fields, it keeps all other fields.
func TestOtherFieldsAreKept(t *testing.T) {
	tdset := aTDSet(known)
	theirs := both(withPods(5), both(annotated, both(withMetricsPort, withSidecars)))
	c := newCluster(t, tdset, deploymentOf(tdset, theirs, scaledTo(1)))

	c.settle()

	if diff := cmp.Diff(deploymentOf(tdset, theirs), c.deployment(), bookkeeping, counters); diff != "" {
		t.Errorf("Deployment (-want +got):\n%s", diff)
	}
}

func ofImage(image string) func(*schedulev1.TDSet) {
	return func(tdset *schedulev1.TDSet) { tdset.Spec.Container.Image = image }
}
