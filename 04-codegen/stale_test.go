// How the controller handles a Foo when its cache is behind, or when the cluster changes in the
// meantime. A create would fail then, but an apply changes an existing Deployment.

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

// A Deployment that was created a moment ago may not be in the cache yet, so the controller asks
// the server before it creates one.
func TestAStaleCacheCreatesNothingTwice(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for name, test := range map[string]struct {
		onServer   *appsv1.Deployment // which the cache doesn't have yet
		want       []string           // Deployments
		wantReady  string
		wantWrites []string
	}{
		"it is ours, created by our last write": {
			onServer:   deploymentOf(foo),
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: []string{"patch foos/status"},
		},
		"it is ours, and somebody has already scaled it": {
			onServer:   deploymentOf(foo, scaledTo(1)),
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "Progressing",
			wantWrites: []string{"patch deployments", "patch foos/status"},
		},
		"it is ours, and being deleted": {
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
		"it is somebody else's, but has our values": {
			onServer:   deploymentOf(foo, unowned),
			want:       []string{"web: 3 × nginx:latest"},
			wantReady:  "ErrResourceExists",
			wantWrites: []string{"patch foos/status"},
		},
		"it belongs to an earlier Foo of the same name": {
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
				t.Errorf("the Deployment's owners (-before +after):\n%s", diff)
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

// The controller spends a request only if the cache has no Deployment, which is before a create.
func TestTheServerIsAskedOnlyIfTheCacheHasNoDeployment(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for name, test := range map[string]struct {
		given []metav1.Object
		want  int
	}{
		"the cache has ours":            {[]metav1.Object{foo, deploymentOf(foo, scaledTo(1))}, 0},
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
				t.Errorf("got %d GET requests, want %d", asked, test.want)
			}
		})
	}
}

// If the server doesn't answer whether there is a Deployment, the controller creates none.
func TestAFailedGetCreatesNothing(t *testing.T) {
	errDiskFull := apierrors.NewInternalError(errors.New("the disk is full"))
	c := newCluster(t, aFoo("example", "web", 3))
	c.refuseNext("get", "deployments", errDiskFull)

	err := c.sync("example")

	if !apierrors.IsInternalError(err) {
		t.Errorf("got the error %v, want %q", err, errDiskFull)
	}
	if diff := cmp.Diff([]string{"patch foos/status"}, c.written()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// Somebody creates a Deployment of that name between our GET and our apply. The apply doesn't
// force, so it is a conflict. It changes nothing, and the next attempt finds their Deployment.
func TestANameTakenMeanwhileIsLeftAlone(t *testing.T) {
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
		t.Errorf("the queue counts %d failures of the key, want 1", got)
	}
	c.written()
	if diff := cmp.Diff([]string{"patch foos/status"}, c.settle("example")); diff != "" {
		t.Errorf("writes of the next attempt (-want +got):\n%s", diff)
	}
	if got := c.ready("example"); got != "ErrResourceExists" {
		t.Errorf("Ready has the reason %q, want ErrResourceExists", got)
	}
}
