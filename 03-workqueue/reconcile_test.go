// What this chapter adds to reconciling: a retry may find a cache that is still behind, and there
// are Events. Chapter 01 tests the rest.

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// A Deployment that was just created may not be in the cache yet. In that case, the server refuses
// to create another one.
func TestAStaleCacheCreatesNothingTwice(t *testing.T) {
	c := newCluster(t, aFoo("example", "web", 3))
	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	err := c.syncHandler(t.Context(), types.NamespacedName{Namespace: "default", Name: "example"})

	if !apierrors.IsAlreadyExists(err) {
		t.Errorf("got the error %v, want AlreadyExists", err)
	}
	if err := c.sync("example"); err != nil {
		t.Errorf("the cache is up to date now, and syncHandler returned the error %v, want none", err)
	}
}

// A new reason is recorded once: not again in each sync, and only when the status with that reason
// has been written.
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
		{"the Deployment is created", func() {}, nil},
		{"it becomes available", func() { c.put(deploymentOf(foo, available(3))) }, []string{synced}},
		{"nothing happens", func() {}, nil},
		{"it is annotated", func() { c.put(deploymentOf(foo, available(3), annotated)) }, nil},
		{"a Pod is lost", func() { c.put(deploymentOf(foo, available(2))) }, nil},
		{"a new Pod is available", func() { c.put(deploymentOf(foo, available(3))) }, []string{synced}},
		{"somebody else takes the name", func() { c.put(deploymentOf(foo, unowned)) }, []string{exists}},
		{"nothing happens", func() {}, nil},
		{"their Deployment becomes available", func() { c.put(deploymentOf(foo, unowned, available(3))) }, nil},
		{"the Foo gets a new generation, but no new reason", func() {
			cached, err := c.getFoo(t.Context(), types.NamespacedName{Namespace: "default", Name: "example"})
			if err != nil {
				t.Fatal(err)
			}
			changed := cached.DeepCopy()
			changed.Generation++
			c.put(changed)
		}, nil},
		{"their Deployment is deleted", func() { c.remove(deploymentOf(foo)) }, nil},
		{"our Deployment becomes available, but the first write of the status is a conflict", func() {
			c.put(deploymentOf(foo, available(3)))
			c.refuseNext("update", "foos/status", apierrors.NewConflict(foosResource.GroupResource(), "example", nil))
		}, []string{synced}},
	} {
		step.do()
		for range 3 { // as if the queue retried it
			if err := c.sync("example"); err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(step.want, c.recorded()); diff != "" {
			t.Errorf("%s: Events (-want +got):\n%s", step.what, diff)
		}
	}
}

// recorded returns the Events that the controller has recorded since the last call.
func (c *cluster) recorded() []string {
	var events []string
	for len(c.events) > 0 {
		events = append(events, <-c.events)
	}
	return events
}
