// A cluster for tests: fake clientsets in place of an API server, and a controller that uses them.
// No informer runs until a test starts the controller. Until then, the test fills the caches, so it
// decides what the controller knows.

package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	foofake "example.com/operators/04-codegen/pkg/generated/clientset/versioned/fake"
)

type cluster struct {
	*controller
	fakeFoos *foofake.Clientset
	fakeKube *fake.Clientset
	events   <-chan string
	versions atomic.Int64 // the last resourceVersion that was used
	t        *testing.T
}

// newCluster returns a cluster that contains these objects.
func newCluster(t *testing.T, objects ...metav1.Object) *cluster {
	recorder := record.NewFakeRecorder(100)
	c := &cluster{fakeFoos: foofake.NewClientset(), events: recorder.Events, t: t}
	c.fakeKube = newFakeKube(c.nextVersion)
	var err error
	if c.controller, err = newController(t.Context(), c.fakeFoos, c.fakeKube, "", 0); err != nil {
		t.Fatal(err)
	}
	c.recorder = recorder
	t.Cleanup(c.queue.ShutDown)
	c.put(objects...)
	return c
}

func (c *cluster) nextVersion() string { return strconv.FormatInt(c.versions.Add(1), 10) }

// sync does what the controller does for one event of that Foo, with caches that are up to date.
func (c *cluster) sync(foo string) error {
	c.informed()
	before := c.cached()
	err := c.syncHandler(c.t.Context(), types.NamespacedName{Namespace: "default", Name: foo})
	// Cached objects are shared with other handlers, and with the informer, which compares them
	// with the next version.
	if diff := cmp.Diff(before, c.cached()); diff != "" {
		c.t.Errorf("syncHandler changed the cached objects (-before +after):\n%s", diff)
	}
	return err
}

// settle does what the controller does for an event of that Foo, and for the events that its own
// writes cause, until there is nothing left to do. It returns the writes. If that takes more rounds
// than there are kinds of writes, the controller is in a loop.
func (c *cluster) settle(foo string) (writes []string) {
	c.t.Helper()
	for range 4 {
		if err := c.sync(foo); err != nil {
			c.t.Fatal(err)
		}
		round := c.written()
		if len(round) == 0 {
			return writes
		}
		writes = append(writes, round...)
	}
	c.t.Fatalf("the controller still writes after 4 rounds: %q", writes)
	return nil
}

// informed fills the caches with the cluster's objects, as the informers would do a moment later.
func (c *cluster) informed() {
	fill := func(informer cache.SharedIndexInformer, tracker clienttesting.ObjectTracker, resource schema.GroupVersionResource, kind schema.GroupVersionKind) {
		list, err := tracker.List(resource, kind, "")
		if err != nil {
			c.t.Fatal(err)
		}
		var items []any
		if err := meta.EachListItem(list, func(item runtime.Object) error { items = append(items, item); return nil }); err != nil {
			c.t.Fatal(err)
		}
		if err := informer.GetIndexer().Replace(items, ""); err != nil {
			c.t.Fatal(err)
		}
	}
	fill(c.fooInformer, c.fakeFoos.Tracker(), foosResource, fooKind)
	fill(c.deploymentInformer, c.fakeKube.Tracker(), deploymentsResource, deploymentKind)
}

// cached returns copies of all cached objects.
func (c *cluster) cached() map[string]runtime.Object {
	copies := map[string]runtime.Object{}
	for _, informer := range []cache.SharedIndexInformer{c.fooInformer, c.deploymentInformer} {
		for _, item := range informer.GetIndexer().List() {
			copies[fmt.Sprintf("%T %s", item, cache.MetaObjectToName(item.(metav1.Object)))] = item.(runtime.Object).DeepCopyObject()
		}
	}
	return copies
}

// somebody is the field manager of all writes that the controller doesn't make.
const somebody = "somebody"

// put creates or replaces objects.
func (c *cluster) put(objects ...metav1.Object) {
	for _, object := range objects {
		tracker, resource := c.trackerOf(object)
		stored := object.(runtime.Object).DeepCopyObject()
		stored.(metav1.Object).SetResourceVersion(c.nextVersion())
		err := tracker.Update(resource, stored, object.GetNamespace(), metav1.UpdateOptions{FieldManager: somebody})
		if apierrors.IsNotFound(err) {
			err = tracker.Create(resource, stored, object.GetNamespace(), metav1.CreateOptions{FieldManager: somebody})
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// remove deletes an object at once.
func (c *cluster) remove(object metav1.Object) {
	tracker, resource := c.trackerOf(object)
	if err := tracker.Delete(resource, object.GetNamespace(), object.GetName()); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) trackerOf(object metav1.Object) (clienttesting.ObjectTracker, schema.GroupVersionResource) {
	if _, isFoo := object.(*samplecontrollerv1alpha1.Foo); isFoo {
		return c.fakeFoos.Tracker(), foosResource
	}
	return c.fakeKube.Tracker(), deploymentsResource
}

// deployment returns the Deployment of that name, or nil if there is none.
func (c *cluster) deployment(name string) *appsv1.Deployment {
	found, err := c.fakeKube.Tracker().Get(deploymentsResource, "default", name)
	if err != nil {
		return nil
	}
	return found.(*appsv1.Deployment)
}

// deployments describes all Deployments, for example as "web: 3 × nginx:latest".
func (c *cluster) deployments() []string {
	list, err := c.fakeKube.Tracker().List(deploymentsResource, deploymentKind, "")
	if err != nil {
		c.t.Fatal(err)
	}
	var found []string
	for _, d := range list.(*appsv1.DeploymentList).Items {
		found = append(found, fmt.Sprintf("%s: %d × %s", d.Name, *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image))
	}
	slices.Sort(found)
	return found
}

// foo returns the Foo of that name, or an empty one if there is none.
func (c *cluster) foo(name string) *samplecontrollerv1alpha1.Foo {
	found, err := c.fakeFoos.Tracker().Get(foosResource, "default", name)
	if err != nil {
		return &samplecontrollerv1alpha1.Foo{}
	}
	return found.(*samplecontrollerv1alpha1.Foo)
}

// ready returns the reason of the Foo's condition Ready, or "" if it has none.
func (c *cluster) ready(foo string) string {
	condition := meta.FindStatusCondition(c.foo(foo).Status.Conditions, "Ready")
	if condition == nil {
		return ""
	}
	return condition.Reason
}

// start runs the controller with its informers, in a testing/synctest bubble, and returns once it
// has handled all existing objects. stop stops it and waits for its end.
func (c *cluster) start() (stop func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.run(ctx, 2)
	}()
	time.Sleep(time.Second) // in the bubble's time: run checks every 100 ms whether the caches are synced
	synctest.Wait()
	return func() {
		cancel()
		<-ended
	}
}

// eventually checks a condition once the controller has nothing left to do. The test must run in a
// bubble.
func (c *cluster) eventually(condition string, holds func() bool) {
	c.t.Helper()
	time.Sleep(2 * time.Second) // in the bubble's time: if client-go's mutation detector is on, it checks once a second
	synctest.Wait()
	if !holds() {
		c.t.Fatalf("not true: %s", condition)
	}
}
