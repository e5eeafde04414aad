// Which Foos an event concerns. The handlers are called as an informer calls them, with caches
// filled by hand.

package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

func TestHandleObject(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	for name, test := range map[string]struct {
		given []metav1.Object
		event any
		want  []string // keys in the queue
	}{
		"its Foo is queued": {
			given: []metav1.Object{foo},
			event: deploymentOf(foo),
			want:  []string{"default/example"},
		},
		"it was deleted while the watch was away: the tombstone's Foo is queued": {
			given: []metav1.Object{foo},
			event: cache.DeletedFinalStateUnknown{Key: "default/web", Obj: deploymentOf(foo)},
			want:  []string{"default/example"},
		},
		"it was somebody else's, and deleted while the watch was away: the Foo that wants its name is queued": {
			given: []metav1.Object{foo},
			event: cache.DeletedFinalStateUnknown{Key: "default/web", Obj: deploymentOf(foo, unowned)},
			want:  []string{"default/example"},
		},
		"a tombstone of nothing that is known: no Foo is queued": {
			given: []metav1.Object{foo},
			event: cache.DeletedFinalStateUnknown{Key: "default/web"},
		},
		"it is somebody else's: the Foos that want its name are queued": {
			given: []metav1.Object{foo, aFoo("another", "web", 1), aFoo("content", "db", 1)},
			event: deploymentOf(foo, unowned),
			want:  []string{"default/another", "default/example"},
		},
		"its Foo no longer names it: it is found by the owner reference, beside the one that wants the name": {
			given: []metav1.Object{renamed, aFoo("another", "web", 1)},
			event: deploymentOf(foo),
			want:  []string{"default/another", "default/example"},
		},
		"it was made under another version of our group: the Foo is found all the same": {
			given: []metav1.Object{renamed},
			event: deploymentOf(foo, ofAnotherVersion),
			want:  []string{"default/example"},
		},
		"the owner is a Foo of another group: ours of the same name is not queued": {
			given: []metav1.Object{renamed},
			event: deploymentOf(foo, ofAnotherGroupsFoo),
		},
		"the owner is of another kind of our group: the Foo of the same name is not queued": {
			given: []metav1.Object{renamed},
			event: deploymentOf(foo, ofABar),
		},
		"it is in another namespace: so are the keys": {
			given: []metav1.Object{foo},
			event: deploymentOf(foo, func(d *appsv1.Deployment) { d.Namespace = "other" }),
			want:  []string{"other/example"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)

			c.informed()
			c.handleObject(t.Context(), test.event)

			if diff := cmp.Diff(test.want, c.queued()); diff != "" {
				t.Errorf("keys in the queue (-want +got):\n%s", diff)
			}
		})
	}
}

// The whole: what was there is listed and acted on, and what comes then is watched. Inside a bubble
// of testing/synctest time passes when every goroutine waits for it, so a pause takes no time.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := aFoo("before", "web", 3)
		c := newCluster(t, before)
		stop := c.start()
		defer stop()

		c.eventually("a Foo that was there before the controller has its Deployment", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"}) && c.ready("before") == "Progressing"
		})
		c.put(deploymentOf(before, available(3)))
		c.eventually("the Foo is ready when its Deployment is", func() bool { return c.ready("before") == "Available" })
		c.put(deploymentOf(before, available(3), scaledTo(1)))
		c.eventually("what was changed by hand is put back", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.remove(deploymentOf(before))
		c.eventually("what was deleted by hand is made again", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.put(aFoo("later", "db", 1))
		c.eventually("a Foo that came later has its Deployment", func() bool {
			return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
		})
		c.remove(before)
		c.eventually("a deleted Foo's Deployment is left to the garbage collector", func() bool {
			return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
		})
	})
}

// A start finds what is there, and writes nothing if all is as it should be.
func TestRunOnASettledCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := aFoo("example", "web", 3, func(foo *v1alpha1.Foo) {
			foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), earlier)
		})
		c := newCluster(t, settled, deploymentOf(settled, available(3)))
		stop := c.start()
		defer stop()

		if writes := c.written(); len(writes) != 0 {
			t.Errorf("writes: %q, want none", writes)
		}
	})
}

// A resync, which is an update to the same resourceVersion, queues each Foo once, not once more for
// its Deployment.
func TestAResyncQueuesEachFooOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 10 * time.Minute
		foo := aFoo("example", "web", 3)
		c := newResyncingCluster(t, every, foo, deploymentOf(foo))
		counting := &countingQueue{TypedRateLimitingInterface: c.queue}
		c.queue = counting
		stop := c.start()
		defer stop()

		atStart := counting.adds.Load() // for the Foo, and for its Deployment
		time.Sleep(every)
		synctest.Wait()
		if got := counting.adds.Load() - atStart; got != 1 {
			t.Errorf("one resync has added the key %d times, want 1", got)
		}
	})
}

type countingQueue struct {
	workqueue.TypedRateLimitingInterface[types.NamespacedName]
	adds atomic.Int32
}

func (q *countingQueue) Add(key types.NamespacedName) {
	q.adds.Add(1)
	q.TypedRateLimitingInterface.Add(key)
}

func ofAnotherVersion(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].APIVersion = "samplecontroller.k8s.io/v1"
}

func ofAnotherGroupsFoo(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].APIVersion = "example.com/v1alpha1"
}

func ofABar(deployment *appsv1.Deployment) { deployment.OwnerReferences[0].Kind = "Bar" }
