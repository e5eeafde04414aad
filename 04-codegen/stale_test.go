// What is done about a Foo when the cache is behind the cluster, or the cluster changes meanwhile.
// A create would fail then; an apply changes what it finds.

package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// What was made a moment ago isn't in the cache yet. So the server is asked before anything is
// made.
func TestAStaleCacheMakesNothingTwice(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for name, test := range map[string]struct {
		onServer   *appsv1.Deployment // which the cache doesn't have yet
		want       []string           // Deployments
		wantReady  string
		wantWrites []string
	}{
		"it is ours, made by our own last write": {
			onServer:   deploymentOf(foo),
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: []string{"patch foos/status"},
		},
		"it is ours, and somebody has scaled it already": {
			onServer:   deploymentOf(foo, scaledTo(1)),
			want:       []string{"web: 3 × nginx:latest"},
			wantWrites: []string{"patch deployments"},
		},
		"it is ours, and on its way out": {
			onServer:   deploymentOf(foo, scaledTo(1), terminating),
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "Terminating",
			wantWrites: []string{"patch foos/status"},
		},
		"it is somebody else's": {
			onServer:   deploymentOf(foo, scaledTo(1), unowned),
			want:       []string{"web: 1 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: []string{"patch foos/status"},
		},
		"it is somebody else's, and as we would make it": {
			onServer:   deploymentOf(foo, unowned),
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: []string{"patch foos/status"},
		},
		"it is of an earlier Foo of the same name": {
			onServer:   deploymentOf(foo, ofAnEarlierFoo),
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: []string{"patch foos/status"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, foo)
			c.informed()
			c.put(test.onServer)

			if err := c.syncHandler(t.Context(), keyOf(foo)); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(test.want, c.deployments()); diff != "" {
				t.Errorf("Deployments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.onServer.OwnerReferences, c.deployment("web").OwnerReferences); diff != "" {
				t.Errorf("its owners (-before +after):\n%s", diff)
			}
			if got := c.ready("example"); got != test.wantReady {
				t.Errorf("Ready has the reason %q, want %q", got, test.wantReady)
			}
			if diff := cmp.Diff(test.wantWrites, c.written()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// A request is spent only where the cache has nothing, which is before a Deployment is made.
func TestTheServerIsAskedOnlyForWhatTheCacheLacks(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for name, test := range map[string]struct {
		given []metav1.Object
		want  int
	}{
		"the cache has it":              {[]metav1.Object{foo, deploymentOf(foo, scaledTo(1))}, 0},
		"the cache has somebody else's": {[]metav1.Object{foo, deploymentOf(foo, unowned)}, 0},
		"the cache has none":            {[]metav1.Object{foo}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)

			if err := c.sync("example"); err != nil {
				t.Fatal(err)
			}

			asked := 0
			for _, action := range c.fakeKube.Actions() {
				if action.GetVerb() == "get" {
					asked++
				}
			}
			if asked != test.want {
				t.Errorf("the server was asked %d times, want %d", asked, test.want)
			}
		})
	}
}

// As long as nobody knows what has the name, nothing is made under it.
func TestNothingIsMadeWithoutAskingTheServer(t *testing.T) {
	errDiskFull := apierrors.NewInternalError(errors.New("the disk is full"))
	c := newCluster(t, aFoo("example", "web", 3))
	c.refuseNext("get", "deployments", errDiskFull)

	err := c.sync("example")

	if !apierrors.IsInternalError(err) {
		t.Errorf("got the error %v, want that the server failed", err)
	}
	if writes := c.written(); len(writes) != 0 {
		t.Errorf("writes: %q, want none", writes)
	}
}

// Somebody takes the name when the server has said that nothing has it. Then the apply, which is
// without force, is a conflict: nothing is stolen, and the next attempt finds it taken.
func TestANameTakenMeanwhileIsNotStolen(t *testing.T) {
	foo := aFoo("example", "web", 3)
	theirs := deploymentOf(foo, unowned, scaledTo(1), running("nginx:1.0"))
	c := newCluster(t, foo)
	c.fakeKube.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		c.put(theirs)
		return false, nil, nil
	})
	c.informed()
	c.handleFoo(t.Context(), foo)

	c.processNextWorkItem(t.Context())

	if diff := cmp.Diff(theirs, c.deployment("web"), bookkeeping); diff != "" {
		t.Errorf("their Deployment (-before +after):\n%s", diff)
	}
	if got := c.queue.NumRequeues(keyOf(foo)); got != 1 {
		t.Errorf("the key is retried as attempt %d, want 1", got)
	}
	c.written()
	if diff := cmp.Diff([]string{"patch foos/status"}, c.settle("example")); diff != "" {
		t.Errorf("writes of the next attempt (-want +got):\n%s", diff)
	}
	if got := c.ready("example"); got != "ErrResourceExists" {
		t.Errorf("Ready has the reason %q, want that the name is taken", got)
	}
}
