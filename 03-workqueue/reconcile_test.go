// What this chapter adds to reconciling: a cache that may be behind the queue, and Events. The rest
// is chapter 01's, and tested there.

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// The Deployment that was just created may not be in the cache yet. Then the server refuses to
// create another one.
func TestAStaleCacheMakesNothingTwice(t *testing.T) {
	c := newCluster(t, aFoo("example", "web", 3))
	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	err := c.syncHandler(t.Context(), types.NamespacedName{Namespace: "default", Name: "example"})

	if !apierrors.IsAlreadyExists(err) {
		t.Errorf("got the error %v, want that the Deployment exists already", err)
	}
	if err := c.sync("example"); err != nil {
		t.Errorf("once the cache knows: %v", err)
	}
}

// A user is told once what is new: not again at each look, and only when the status that says so is
// written.
func TestEventsAreRecordedOnce(t *testing.T) {
	const (
		synced = `Normal Synced 3 of 3 replicas of Deployment "web" are available`
		exists = `Warning ErrResourceExists Deployment "web" exists and is not controlled by this Foo: delete it or choose another deploymentName`
	)
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo)
	for _, step := range []struct {
		what string
		do   func()
		want []string
	}{
		{"the Deployment is made", func() {}, nil},
		{"it becomes available", func() { c.put(deploymentOf(foo, available(3))) }, []string{synced}},
		{"nothing happens", func() {}, nil},
		{"it is annotated", func() { c.put(deploymentOf(foo, available(3), annotated)) }, nil},
		{"a Pod is lost", func() { c.put(deploymentOf(foo, available(2))) }, nil},
		{"another has come up", func() { c.put(deploymentOf(foo, available(3))) }, []string{synced}},
		{"somebody else takes the name", func() { c.put(deploymentOf(foo, unowned)) }, []string{exists}},
		{"nothing happens", func() {}, nil},
		{"theirs becomes available", func() { c.put(deploymentOf(foo, unowned, available(3))) }, nil},
		{"the Foo is changed, and so is its status, but not what that says", func() {
			cached, err := c.getFoo(t.Context(), types.NamespacedName{Namespace: "default", Name: "example"})
			if err != nil {
				t.Fatal(err)
			}
			changed := cached.DeepCopy()
			changed.Generation++
			c.put(changed)
		}, nil},
		{"theirs is gone", func() { c.remove(deploymentOf(foo)) }, nil},
		{"ours becomes available, and the status is written at the second attempt", func() {
			c.put(deploymentOf(foo, available(3)))
			c.refuseNext("update", "foos/status", apierrors.NewConflict(foosResource.GroupResource(), "example", nil))
		}, []string{synced}},
	} {
		step.do()
		for range 3 { // of the attempts that the queue would make
			if err := c.sync("example"); err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(step.want, c.recorded()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", step.what, diff)
		}
	}
}

// recorded returns the events that the controller has recorded since it was last asked for them.
func (c *cluster) recorded() []string {
	var events []string
	for len(c.events) > 0 {
		events = append(events, <-c.events)
	}
	return events
}
