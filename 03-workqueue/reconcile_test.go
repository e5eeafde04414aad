// What this chapter adds to reconciling: a retry may find a cache that is still behind, and there
// are Events. Chapter 01 tests the rest.

package main

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// A Deployment that was just created may not be in the cache yet. In that case, the server refuses
// to create another one.
func TestAStaleCacheCreatesNothingTwice(t *testing.T) {
	c, foo := newCluster(t), aFoo("example", "web", 3)
	c.cache(foo)
	must(t, c.sync("example"))

	if err := c.sync("example"); !apierrors.IsAlreadyExists(err) {
		t.Errorf("got the error %v, want AlreadyExists", err)
	}
	c.cache(deploymentOf(foo))
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
	c, foo := newCluster(t), aFoo("example", "web", 3)
	c.cache(foo)
	for _, step := range []struct {
		sentence string
		do       func()
		want     []string
	}{
		{"there is a Deployment", func() { c.cache(deploymentOf(foo)) }, nil},
		{"it becomes available", func() { c.cache(deploymentOf(foo, available(3))) }, []string{synced}},
		{"nothing happens", func() {}, nil},
		{"a Pod is lost", func() { c.cache(deploymentOf(foo, available(2))) }, nil},
		{"a new Pod is available", func() { c.cache(deploymentOf(foo, available(3))) }, []string{synced}},
		{"somebody else takes the name", func() { c.cache(deploymentOf(foo, unowned)) }, []string{exists}},
		{"their Deployment becomes available", func() { c.cache(deploymentOf(foo, unowned, available(3))) }, nil},
		{"the Foo gets a new generation, but no new reason", func() {
			cached, err := c.getFoo(t.Context(), types.NamespacedName{Namespace: "default", Name: "example"})
			must(t, err)
			changed := cached.DeepCopy()
			changed.Generation++
			c.cache(changed)
		}, nil},
		{"ours is back, but the first write of the status is a conflict", func() {
			c.cache(deploymentOf(foo, available(3)))
			c.onUpdate = func(context.Context, *samplecontrollerv1alpha1.Foo) error {
				c.onUpdate = nil
				return apierrors.NewConflict(foosResource.GroupResource(), "example", nil)
			}
		}, []string{synced}},
	} {
		step.do()
		for range 3 { // as if the queue retried it
			if err := c.sync("example"); err != nil && !apierrors.IsConflict(err) {
				t.Fatal(err)
			}
		}
		var recorded []string
		for len(c.events) > 0 {
			recorded = append(recorded, <-c.events)
		}
		if diff := cmp.Diff(step.want, recorded); diff != "" {
			t.Errorf("%s: Events (-want +got):\n%s", step.sentence, diff)
		}
	}
}
