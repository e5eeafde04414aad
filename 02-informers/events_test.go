// The whole controller on its informers. Which Foos an event concerns is tested in chapter 01.

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

// If the watch missed a deletion, the informer may not even know what was deleted.
func TestADeletionOfSomethingUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		informer := &recordingInformer{TypedSharedIndexInformer: c.deploymentInformer}
		c.deploymentInformer = informer
		stop := c.start()
		defer stop()

		informer.handler.OnDelete(cache.DeletedObject[*appsv1.Deployment]{FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: "default/web"}})

		if writes := c.written(); len(writes) != 0 {
			t.Errorf("writes: %q, want none", writes)
		}
	})
}

// recordingInformer remembers its handler.
type recordingInformer struct {
	cache.TypedSharedIndexInformer[*appsv1.Deployment]
	handler cache.TypedResourceEventHandler[*appsv1.Deployment]
}

func (i *recordingInformer) AddTypedEventHandler(handler cache.TypedResourceEventHandler[*appsv1.Deployment], options ...cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	i.handler = handler
	return i.TypedSharedIndexInformer.AddTypedEventHandler(handler, options...)
}

// Each informer calls its handlers in a goroutine of its own, and both work on the same Foos: only
// one may at a time.
func TestOneHandlerWorksAtATime(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo, deploymentOf(foo))
	works := 0
	c.fakeFoos.onUpdate = func(context.Context, *samplecontrollerv1alpha1.Foo) error {
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
		c.eventually("a change by hand is reverted", func() bool {
			return cmp.Equal(c.deployments(), []string{"web: 3 × nginx:latest"})
		})
		c.remove(deploymentOf(before))
		c.eventually("what was deleted by hand is created again", func() bool {
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
		settled := aFoo("example", "web", 3, func(foo *samplecontrollerv1alpha1.Foo) {
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
