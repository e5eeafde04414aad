// The drain of a TDSet that is being deleted. It ignores the injected clock, so these tests run in
// a synctest bubble, with simulated time.

package controller

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

func TestDrain(t *testing.T) {
	tdset := aTDSet(withService(80))
	scaledDown := deploymentOf(tdset, scaledTo(0), withPods(0))
	drainedEvent := []string{"Normal Drained No Pod of this TDSet is running"}
	timeoutEvent := []string{"Warning DrainTimeout Not drained after 1m0s: Pods may still be running"}
	for name, test := range map[string]struct {
		tdset       *schedulev2.TDSet // being deleted
		given       []client.Object
		after       time.Duration // since the deletion
		want        string        // objects
		wantKept    bool
		wantWrites  []string
		wantRequeue time.Duration
		wantEvents  []string
	}{
		"the Deployment is scaled to zero": {
			tdset: tdset, given: []client.Object{deploymentOf(tdset, withPods(5)), podOf(tdset)}, after: 10 * time.Second,
			want: "0 × nginx:1.0", wantKept: true, wantWrites: []string{"patch deployments"}, wantRequeue: 50 * time.Second,
		},
		"the Deployment controller hasn't seen the scaling": {
			tdset: tdset, given: []client.Object{deploymentOf(tdset, scaledTo(0), withPods(0), func(d *appsv1.Deployment) { d.Generation++ })},
			want: "0 × nginx:1.0", wantKept: true, wantRequeue: time.Minute,
		},
		"a Pod is terminating": {
			tdset: tdset, given: []client.Object{scaledDown, podOf(tdset)}, after: 59 * time.Second,
			want: "0 × nginx:1.0", wantKept: true, wantRequeue: time.Second,
		},
		"no Pod is left": {
			tdset: tdset, given: []client.Object{scaledDown}, after: 10 * time.Second,
			want: "0 × nginx:1.0", wantWrites: []string{"patch tdsets"}, wantEvents: drainedEvent,
		},
		"all remaining Pods have finished, or belong to others": {
			tdset: tdset, given: []client.Object{scaledDown, evicted(podOf(tdset)), podOf(aTDSet(named("db"))), podOf(aTDSet(elsewhere))},
			want: "0 × nginx:1.0", wantWrites: []string{"patch tdsets"}, wantEvents: drainedEvent,
		},
		"the timeout is over, and a Pod is left": {
			tdset: tdset, given: []client.Object{scaledDown, podOf(tdset)}, after: time.Minute,
			want: "0 × nginx:1.0", wantWrites: []string{"patch tdsets"}, wantEvents: timeoutEvent,
		},
		"the timeout was over before a restart": {
			tdset: tdset, given: []client.Object{deploymentOf(tdset, withPods(5)), podOf(tdset)}, after: time.Hour,
			want: "0 × nginx:1.0", wantWrites: []string{"patch deployments", "patch tdsets"}, wantEvents: timeoutEvent,
		},
		"the Deployment is gone, and a Pod is left": {
			tdset: tdset, given: []client.Object{podOf(tdset)}, wantKept: true, wantRequeue: time.Minute,
		},
		"the Deployment and its Pods are gone": {
			tdset: tdset, wantWrites: []string{"patch tdsets"}, wantEvents: drainedEvent,
		},
		"the Deployment is being deleted: kubectl delete --cascade=foreground": {
			tdset: aTDSet(withFinalizer(metav1.FinalizerDeleteDependents)),
			given: []client.Object{deploymentOf(tdset, withPods(5), terminating), podOf(tdset)},
			want:  "5 × nginx:1.0", wantKept: true, wantRequeue: time.Minute,
		},
		"the Deployment stays: kubectl delete --cascade=orphan": {
			tdset: aTDSet(withFinalizer(metav1.FinalizerOrphanDependents)),
			given: []client.Object{deploymentOf(tdset, withPods(5)), podOf(tdset)},
			want:  "5 × nginx:1.0", wantKept: true, wantWrites: []string{"patch tdsets"},
		},
		"somebody else's Deployment has the name": {
			tdset: tdset, given: []client.Object{deploymentOf(tdset, withPods(5), unowned), podOf(tdset)},
			want: "5 × nginx:1.0", wantWrites: []string{"patch tdsets"},
		},
		"its schedule is invalid": {
			tdset: aTDSet(invalid), given: []client.Object{deploymentOf(tdset, withPods(5))},
			want: "0 × nginx:1.0", wantKept: true, wantWrites: []string{"patch deployments"}, wantRequeue: time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deleted := test.tdset.DeepCopy()
				beingDeleted(deleted)
				c := newCluster(t, append(test.given, deleted)...)
				time.Sleep(test.after)

				result, err := c.sync()

				must(t, err)
				if diff := cmp.Diff(test.wantWrites, c.written()); diff != "" {
					t.Errorf("writes (-want +got):\n%s", diff)
				}
				if got := c.objects(); got != test.want {
					t.Errorf("got the objects %q, want %q", got, test.want)
				}
				if got := c.tdset().Name != ""; got != test.wantKept {
					t.Errorf("the TDSet still exists: %v, want %v", got, test.wantKept)
				}
				if result.RequeueAfter != test.wantRequeue {
					t.Errorf("requeued after %v, want %v", result.RequeueAfter, test.wantRequeue)
				}
				if diff := cmp.Diff(test.wantEvents, c.recorded()); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A new Pod may not be in the cache yet. So the controller asks the API server before it removes
// the finalizer.
func TestAStaleCacheEndsNoDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, aTDSet(beingDeleted), deploymentOf(aTDSet(), scaledTo(0), withPods(0)))
		c.informed()
		c.put(podOf(aTDSet()))

		result, err := c.reconcile()

		if must(t, err); c.tdset().Name == "" || result.RequeueAfter != time.Minute {
			t.Errorf("with a Pod left, got the TDSet %q, requeued after %v; want it to exist, and to be requeued", c.tdset().Name, result.RequeueAfter)
		}
	})
}

// A TDSet that is being deleted gets no finalizer, because the API server would refuse it. It gets
// no objects, either.
func TestADeletedTDSetGetsNothing(t *testing.T) {
	c := newCluster(t, aTDSet(withService(80), withFinalizer("example.com/theirs"), func(tdset *schedulev2.TDSet) {
		tdset.DeletionTimestamp = &metav1.Time{Time: noon}
	}))

	writes, again := c.settle()

	if len(writes) > 0 || again != 0 || c.objects() != "" {
		t.Errorf("got %q after the writes %q, requeued after %v; want none of them", c.objects(), writes, again)
	}
}

// Other finalizers stay, in the same order.
func TestFinalizersOfOthersAreKept(t *testing.T) {
	c := newCluster(t, aTDSet(withFinalizer("example.com/theirs")))
	c.settle()
	if diff := cmp.Diff([]string{"example.com/theirs", finalizer}, c.tdset().Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}

	must(t, c.server.Delete(t.Context(), c.tdset()))
	c.put(deploymentOf(aTDSet(), scaledTo(0), withPods(0)))
	c.settle()

	if diff := cmp.Diff([]string{"example.com/theirs"}, c.tdset().Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
}

// None of these errors shows whether a Pod is left. They aren't returned, because the queue's
// pauses may be longer than what is left of the time.
func TestADrainThatFails(t *testing.T) {
	tdset := aTDSet()
	for request, given := range map[string][]client.Object{
		"get deployments":          nil,
		"uncached get deployments": nil,
		"patch deployments":        {deploymentOf(tdset, withPods(5))},
		"list pods":                {deploymentOf(tdset, scaledTo(0), withPods(0))},
		"uncached list pods":       {deploymentOf(tdset, scaledTo(0), withPods(0))},
	} {
		t.Run(request, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, append(given, aTDSet(beingDeleted))...)
				for _, err := range []error{errDiskFull, errConflict} {
					c.refuseNext(request, err)
					if result, err := c.sync(); err != nil || result != (ctrl.Result{RequeueAfter: conflictPause}) {
						t.Errorf("got %+v and the error %v, want a short RequeueAfter and no error", result, err)
					}
				}
				if c.tdset().Name == "" || len(c.recorded()) > 0 {
					t.Error("the finalizer was removed before the drain was confirmed")
				}

				time.Sleep(c.DrainTimeout)
				c.refuseNext(request, errDiskFull)
				_, err := c.sync()
				if must(t, err); c.tdset().Name != "" {
					t.Error("after the timeout, the TDSet still exists")
				}
				if got := c.recorded(); len(got) != 1 || !strings.Contains(got[0], "DrainTimeout") {
					t.Errorf("got the events %q, want DrainTimeout", got)
				}
			})
		})
	}
}

// If the removal of the finalizer fails, there is no event Drained yet. If the TDSet is gone
// already, there is nothing left to do.
func TestTheFinalizerCantBeRemoved(t *testing.T) {
	for sentence, test := range map[string]struct{ err, want error }{
		"the API server fails": {errDiskFull, errDiskFull},
		"the TDSet has gone":   {errNotFound, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, aTDSet(beingDeleted))
			c.refuseNext("patch tdsets", test.err)

			result, err := c.sync()

			if !errors.Is(err, test.want) || result.RequeueAfter != 0 || len(c.recorded()) > 0 {
				t.Errorf("got %+v and the error %v, want %v, and no event", result, err, test.want)
			}
		})
	}
}

func named(name string) func(*schedulev2.TDSet) {
	return func(tdset *schedulev2.TDSet) { tdset.Name = name }
}

func elsewhere(tdset *schedulev2.TDSet) { tdset.Namespace = "other" }
