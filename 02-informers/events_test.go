// Which Foos an event concerns. The handlers are called as an informer calls them, with caches filled by hand.

package main

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

func TestHandleObject(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	settled := aFoo("example", "web", 3, func(foo *v1alpha1.Foo) {
		foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), earlier)
	})
	for name, test := range map[string]struct {
		given     []metav1.Object
		event     any
		want      []string // Deployments
		wantReady string
	}{
		"a Deployment has become available: its Foo is ready": {
			given:     []metav1.Object{foo, deploymentOf(foo, available(3))},
			event:     deploymentOf(foo),
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "Available",
		},
		"a Deployment was deleted by hand: its Foo makes it again": {
			given:     []metav1.Object{settled},
			event:     deploymentOf(settled),
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "Available", // as before: the new Deployment's own events are still to come
		},
		"a Deployment was deleted while the watch was away: the tombstone's Foo makes it again": {
			given:     []metav1.Object{settled},
			event:     cache.DeletedFinalStateUnknown{Key: "default/web", Obj: deploymentOf(settled)},
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "Available",
		},
		"somebody else's was deleted while the watch was away: the Foo that wants its name has it now": {
			given: []metav1.Object{foo},
			event: cache.DeletedFinalStateUnknown{Key: "default/web", Obj: deploymentOf(foo, unowned)},
			want:  []string{"web: 3 × nginx:latest"},
		},
		"a tombstone of nothing that is known: no Foo is concerned": {
			given: []metav1.Object{foo},
			event: cache.DeletedFinalStateUnknown{Key: "default/web"},
		},
		"somebody else's Deployment was deleted: the Foo that wants its name has it now": {
			given: []metav1.Object{foo},
			event: deploymentOf(foo, unowned),
			want:  []string{"web: 3 × nginx:latest"},
		},
		"somebody else's Deployment was made: the Foo that wants its name says that it can't have it": {
			given:     []metav1.Object{foo, deploymentOf(foo, unowned)},
			event:     deploymentOf(foo, unowned),
			want:      []string{"web: 3 × nginx:latest"},
			wantReady: "ErrResourceExists",
		},
		"a Deployment has changed that its Foo no longer names: the Foo is found by the owner reference": {
			given: []metav1.Object{renamed, deploymentOf(foo)},
			event: deploymentOf(foo),
			want:  []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
		},
		"it was made under another version of our group: the Foo is found all the same": {
			given: []metav1.Object{renamed, deploymentOf(foo, ofAnotherVersion)},
			event: deploymentOf(foo, ofAnotherVersion),
			want:  []string{"new: 3 × nginx:latest", "web: 3 × nginx:latest"},
		},
		"the owner is a Foo of another group: ours of the same name is not concerned": {
			given: []metav1.Object{renamed, deploymentOf(foo, ofAnotherGroupsFoo)},
			event: deploymentOf(foo, ofAnotherGroupsFoo),
			want:  []string{"web: 3 × nginx:latest"},
		},
		"the owner is of another kind of our group: the Foo of the same name is not concerned": {
			given: []metav1.Object{renamed, deploymentOf(foo, ofABar)},
			event: deploymentOf(foo, ofABar),
			want:  []string{"web: 3 × nginx:latest"},
		},
		"a Deployment in another namespace: Foos of ours are not concerned": {
			given: []metav1.Object{foo},
			event: deploymentOf(foo, func(d *appsv1.Deployment) { d.Namespace = "other" }),
		},
		"the owner is gone: nothing is to be done": {
			given: []metav1.Object{deploymentOf(foo)},
			event: deploymentOf(foo),
			want:  []string{"web: 3 × nginx:latest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)

			c.informed()
			c.handleObject(t.Context(), test.event)

			if diff := cmp.Diff(test.want, c.deployments(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Deployments (-want +got):\n%s", diff)
			}
			if got := c.ready("example"); got != test.wantReady {
				t.Errorf("Ready has the reason %q, want %q", got, test.wantReady)
			}
		})
	}
}

// Each informer calls its handlers in a goroutine of its own, and both work on the same Foos: only one may at a time.
func TestOneHandlerWorksAtATime(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo, deploymentOf(foo))
	works := 0
	c.fakeFoos.onUpdate = func(context.Context, *v1alpha1.Foo) error {
		works++
		if c.working.TryLock() {
			t.Error("another handler could work meanwhile")
		}
		return nil
	}
	c.informed()

	c.handleFoo(t.Context(), foo)
	c.handleObject(t.Context(), deploymentOf(foo))

	if works != 2 {
		t.Errorf("the status was written %d times, want 2: the cache knows of none", works)
	}
}

// The whole: what was there is listed and acted on, and what comes then is watched. Inside a bubble of testing/synctest time
// passes when every goroutine waits for it, so a pause takes no time.
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

func ofAnotherVersion(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].APIVersion = "samplecontroller.k8s.io/v1"
}

func ofAnotherGroupsFoo(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].APIVersion = "example.com/v1alpha1"
}

func ofABar(deployment *appsv1.Deployment) { deployment.OwnerReferences[0].Kind = "Bar" }
