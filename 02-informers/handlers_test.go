// What four delete handlers do with a tombstone. The controller's own handler is the last one.

package main

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// assertType is wrong: a tombstone has another type, so it panics.
func assertType(obj any, handle func(*appsv1.Deployment)) {
	handle(obj.(*appsv1.Deployment))
}

// checkType is wrong: it doesn't panic, but it ignores tombstones. Nobody notices until a Deployment
// is missing.
func checkType(obj any, handle func(*appsv1.Deployment)) {
	if deployment, ok := obj.(*appsv1.Deployment); ok {
		handle(deployment)
	}
}

// unwrapTombstone is right: it looks into the tombstone, as sample-controller does. (Exercise 02/1
// also reports what it can't handle.)
func unwrapTombstone(obj any, handle func(*appsv1.Deployment)) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	checkType(obj, handle)
}

// typed is right: DeletedObject has the Deployment in both cases.
func typed(deleted cache.DeletedObject[*appsv1.Deployment], handle func(*appsv1.Deployment)) {
	if deployment := deleted.OptionalObj; deployment != nil {
		handle(deployment)
	}
}

func TestDeleteHandlers(t *testing.T) {
	for _, test := range []struct {
		sentence string
		untyped  func(any, func(*appsv1.Deployment)) // nil: typed
		want     string
	}{
		{"wrong: assert the type", assertType, "panic: interface conversion: interface {} is cache.DeletedFinalStateUnknown, not *v1.Deployment"},
		{"wrong: check the type", checkType, "nothing"},
		{"right: unwrap the tombstone", unwrapTombstone, "the deletion of web"},
		{"right: a typed handler", nil, "the deletion of web"},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, miss := newClusterWithAStalledWatch(t)
				handled := "nothing"
				handle := func(deployment *appsv1.Deployment) { handled = "the deletion of " + deployment.Name }
				if test.untyped == nil {
					c.deploymentInformer.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*appsv1.Deployment]{
						DeleteFunc: func(deleted cache.DeletedObject[*appsv1.Deployment]) { typed(deleted, handle) },
					})
				} else {
					c.deploymentInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{
						DeleteFunc: func(obj any) {
							defer func() {
								if panicked := recover(); panicked != nil { // without this, the program would end
									handled = fmt.Sprint("panic: ", panicked)
								}
							}()
							test.untyped(obj, handle)
						},
					})
				}
				stop := c.start()
				miss()
				stop()

				if got, want := c.state(), "example is Progressing, web has 3 replicas"; got != want {
					t.Errorf("the controller's own handler has led to %q, want %q", got, want)
				}
				t.Logf("the handler sees: %s", handled)
				if handled != test.want {
					t.Errorf("want: %s", test.want)
				}
			})
		})
	}
}

// newClusterWithAStalledWatch has a Foo, and its Deployment web. miss deletes web while the watch
// sends nothing, and then the watch fails, so the informer lists again.
func newClusterWithAStalledWatch(t *testing.T) (c *cluster, miss func()) {
	foo, web := aSettledFoo()
	c = newCluster(t, 0, foo, web)
	stalled := watch.NewRaceFreeFake()
	watches := 0
	c.fakeKube.PrependWatchReactor("deployments", func(clienttesting.Action) (handled bool, stream watch.Interface, err error) {
		watches++
		return watches == 1, stalled, nil
	})
	return c, func() {
		c.remove(web)
		stalled.Error(&apierrors.NewResourceExpired("too old resource version").ErrStatus)
		time.Sleep(time.Minute) // the Reflector pauses before it lists again
		synctest.Wait()
	}
}
