// Reconciles of a TDSet. Each case has a cluster before and after, and the kinds of writes in
// between. Services are in objects_test.go, and deletions in drain_test.go.

package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

const (
	asScheduled = "9-17: ReplicasAvailable, RolledOut, AsExpected"
	scaling     = "9-17: ReplicasUnavailable, RollingOut, AsExpected"
	nameTaken   = "9-17: ErrResourceExists, ErrResourceExists, ErrResourceExists"
)

func TestReconcile(t *testing.T) {
	tdset := aTDSet(known)
	for name, test := range map[string]struct {
		given      []client.Object
		at         time.Time // the default is noon
		want       string    // objects
		wantStatus string    // the status
		// wantWrites is the write budget, which the controller must not exceed.
		wantWrites  int
		wantRequeue time.Duration // 0: not before an event
	}{
		"a new TDSet gets its finalizer and its Deployment": {
			given: []client.Object{aTDSet()},
			want:  "5 × nginx:1.0", wantStatus: scaling, wantWrites: 3, wantRequeue: longestPause,
		},
		"the Deployment has become available": {
			given: []client.Object{tdset, deploymentOf(tdset, withPods(5))},
			want:  "5 × nginx:1.0", wantStatus: asScheduled, wantWrites: 1, wantRequeue: longestPause,
		},
		"a settled TDSet causes no write": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, withPods(5))},
			want:  "5 × nginx:1.0", wantStatus: asScheduled, wantRequeue: longestPause,
		},
		"a settled TDSet, a second before its window ends": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, withPods(5))},
			at:    at(17, 0).Add(-time.Second),
			want:  "5 × nginx:1.0", wantStatus: asScheduled, wantRequeue: time.Second,
		},
		"the window has ended": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, withPods(5))},
			at:    at(17, 0),
			want:  "3 × nginx:1.0", wantStatus: "17-19: ReplicasAvailable, RollingOut, AsExpected", wantWrites: 2, wantRequeue: longestPause,
		},
		"the window has ended, and the next one has the same replicas": {
			given: []client.Object{
				aTDSet(settled, with(aWindow(9, 17, 5), aWindow(17, 0, 5))),
				deploymentOf(tdset, withPods(5)),
			},
			at:   at(17, 0),
			want: "5 × nginx:1.0", wantStatus: "17-0: ReplicasAvailable, RolledOut, AsExpected", wantWrites: 1, wantRequeue: longestPause,
		},
		"one that is in no window": {
			given: []client.Object{tdset},
			at:    at(20, 0),
			want:  "2 × nginx:1.0", wantStatus: "default: ReplicasUnavailable, RollingOut, AsExpected", wantWrites: 2, wantRequeue: longestPause,
		},
		"a changed image reaches the Deployment": {
			given: []client.Object{aTDSet(known, ofImage("nginx:2.0")), deploymentOf(tdset, withPods(5))},
			want:  "5 × nginx:2.0", wantStatus: "9-17: ReplicasAvailable, RollingOut, AsExpected", wantWrites: 2, wantRequeue: longestPause,
		},
		"replicas changed by hand are put back": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, scaledTo(1), withPods(1))},
			want:  "5 × nginx:1.0", wantStatus: scaling, wantWrites: 2, wantRequeue: longestPause,
		},
		"a Deployment without an owner isn't changed": {
			given: []client.Object{tdset, deploymentOf(tdset, unowned, scaledTo(1), running("nginx:0.9"))},
			want:  "1 × nginx:0.9", wantStatus: nameTaken, wantWrites: 1, wantRequeue: longestPause,
		},
		"a Deployment that is being deleted isn't changed": {
			given: []client.Object{aTDSet(settled), deploymentOf(tdset, terminating, scaledTo(1))},
			want:  "1 × nginx:1.0", wantStatus: "9-17: Terminating, Terminating, AsExpected", wantWrites: 1, wantRequeue: longestPause,
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
				t.Errorf("got the objects %q, want %q", got, test.want)
			}
			if got := c.status(); got != test.wantStatus {
				t.Errorf("the status is %q, want %q", got, test.wantStatus)
			}
			if len(writes) != test.wantWrites {
				t.Errorf("got %d writes, want %d: %q", len(writes), test.wantWrites, writes)
			}
			if again != test.wantRequeue {
				t.Errorf("requeued after %v, want %v", again, test.wantRequeue)
			}
		})
	}
}

// An invalid schedule changes nothing. Its correction causes an event, which enqueues the TDSet.
func TestAnInvalidSchedule(t *testing.T) {
	changed := aTDSet(settled, with(aWindow(9, 9, 1)), withService(80), withInterval(1), ofImage("nginx:2.0"))
	c := newCluster(t, changed, deploymentOf(changed, scaledTo(1), withPods(1), running("nginx:1.0")))

	writes, again := c.settle()

	if got, want := c.status(), ": ReplicasAvailable, InvalidSchedule, InvalidSchedule"; got != want || c.objects() != "1 × nginx:1.0" || again != 0 {
		t.Errorf("the status is %q, want %q; got the objects %q, requeued after %v, want 1 × nginx:1.0 and no requeue", got, want, c.objects(), again)
	}
	if diff := cmp.Diff([]string{"apply tdsets/status"}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}

	c.change(func(spec *schedulev2.TDSetSpec) { *spec = aTDSet().Spec })
	if _, again := c.settle(); c.objects() != "5 × nginx:1.0" || c.status() != scaling || again != longestPause {
		t.Errorf("after the correction, got the objects %q and the status %q, requeued after %v; want the schedule applied", c.objects(), c.status(), again)
	}
}

// A new TDSet with an invalid schedule has no Deployment yet.
func TestAnInvalidScheduleFromTheStart(t *testing.T) {
	c := newCluster(t, aTDSet(invalid, withService(80)))

	writes, again := c.settle()

	if got, want := c.status(), ": NoDeployment, NoDeployment, InvalidSchedule"; got != want || c.objects() != "" || again != 0 {
		t.Errorf("the status is %q, want %q; got the objects %q, requeued after %v, want neither", got, want, c.objects(), again)
	}
	if diff := cmp.Diff([]string{"patch tdsets", "apply tdsets/status"}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// bookkeeping ignores the fields that change with every write, and the kind, which typed objects
// omit.
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

func ofImage(image string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Spec.Container.Image = image }
}
