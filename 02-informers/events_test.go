// The whole controller, with its informers. Chapter 01 tests which Foos an event concerns.

package main

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// If the watch missed a deletion, the informer may not have the deleted object.
func TestTombstoneWithoutAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		informer := &recordingInformer{TypedSharedIndexInformer: c.deploymentInformer}
		c.deploymentInformer = informer
		stop := c.start()
		defer stop()

		informer.handler.OnDelete(cache.DeletedObject[*appsv1.Deployment]{FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: "default/web"}})

		if writes := c.written(); len(writes) != 0 {
			t.Errorf("got the writes %q, want none", writes)
		}
	})
}

// recordingInformer records the handler that is added to it.
type recordingInformer struct {
	cache.TypedSharedIndexInformer[*appsv1.Deployment]
	handler cache.TypedResourceEventHandler[*appsv1.Deployment]
}

func (i *recordingInformer) AddTypedEventHandler(handler cache.TypedResourceEventHandler[*appsv1.Deployment], options ...cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	i.handler = handler
	return i.TypedSharedIndexInformer.AddTypedEventHandler(handler, options...)
}

// Each informer has its own goroutine for its handlers, and both sync the same Foos. Only one
// handler may work at a time.
func TestHandlersWorkOneAtATime(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo, deploymentOf(foo))
	syncs := 0
	c.fakeFoos.onUpdate = func(context.Context, *samplecontrollerv1alpha1.Foo) error {
		syncs++
		if c.working.TryLock() {
			t.Error("handle doesn't hold the lock during an update, so another handler could work at the same time")
		}
		return nil
	}
	c.informed()

	c.handleFoo(t.Context(), foo)
	c.handleObject(t.Context(), deploymentOf(foo))

	if syncs != 2 {
		t.Errorf("the status was written %d times, want 2, because the cache never gets it", syncs)
	}
}

// The whole controller: it lists and handles the existing objects, and then watches. In a
// testing/synctest bubble, time only passes when every goroutine waits, so a pause takes no time.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := aFoo("before", "web", 3)
		c := newCluster(t, before)
		stop := c.start()
		defer stop()

		c.eventually("a Foo that existed before the controller has its Deployment", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"}) && c.ready("before") == "Progressing"
		})
		c.put(deploymentOf(before, available(3)))
		c.eventually("the Foo is ready when its Deployment is", func() bool { return c.ready("before") == "Available" })
		c.put(deploymentOf(before, available(3), scaledTo(1)))
		c.eventually("a change by hand is reverted", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.remove(deploymentOf(before))
		c.eventually("a Deployment that was deleted by hand is created again", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.put(aFoo("later", "db", 1))
		c.eventually("a Foo that was created later has its Deployment", func() bool {
			return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
		})
		c.remove(before)
		c.eventually("the controller leaves a deleted Foo's Deployment to the garbage collector", func() bool {
			return cmp.Equal(c.deployments(), []string{"db: 1 × nginx:latest", "web: 3 × nginx:latest"})
		})
	})
}

// A restart writes nothing if everything is up to date.
func TestRunWritesNothingIfUpToDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
			foo.Status = desiredStatus(foo, deploymentOf(foo, available(3)), nil, earlier)
		})
		c := newCluster(t, settled, deploymentOf(settled, available(3)))
		stop := c.start()
		defer stop()

		if writes := c.written(); len(writes) != 0 {
			t.Errorf("got the writes %q, want none", writes)
		}
	})
}
