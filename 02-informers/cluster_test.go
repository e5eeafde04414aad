// A cluster for tests: fakes in place of an API server, and a controller that uses them. A test runs
// in a testing/synctest bubble, where time only passes when every goroutine waits. So a pause takes
// no time, and after it, the informers and handlers have nothing left to do.
//
// client-go's fake clientset stores what it is sent, and this is what it lacks:
//   - UIDs, resourceVersions, generations: "Object content does not get changed" (client-go,
//     testing/fixture.go). So put and newCluster set the fields that matter: handlers compare
//     resourceVersions, and rolledOut compares generations.
//   - Conflicts: an update with an old resourceVersion succeeds, and a delete's preconditions are
//     ignored. Chapter 03 has the same write.go, and its integration_test.go asks a real server.
//   - The garbage collector, the Deployment controller and all others: no Pod starts unless the
//     test does that.
//   - Part of a watch: an object that is deleted between an informer's list and its watch stays in
//     the cache forever (kubernetes/kubernetes#141528). So a test deletes nothing before all
//     goroutines are waiting, because by then the informers watch.

package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/02-informers/pkg/client"
)

var (
	foosResource        = samplecontrollerv1alpha1.GroupVersion.WithResource("foos")
	fooKind             = samplecontrollerv1alpha1.GroupVersion.WithKind("Foo")
	deploymentsResource = appsv1.SchemeGroupVersion.WithResource("deployments")
)

// fakeFoos is a fake of pkg/client, built from the same parts as client-go's fake clientset: an
// object tracker that stores the Foos, and a Fake that lets a test replace the responses. Chapter 04
// generates it.
type fakeFoos struct {
	clienttesting.Fake
	tracker clienttesting.ObjectTracker
}

func newFakeFoos() *fakeFoos {
	f := &fakeFoos{tracker: clienttesting.NewObjectTracker(client.Scheme, serializer.NewCodecFactory(client.Scheme).UniversalDecoder())}
	f.AddReactor("*", "*", clienttesting.ObjectReaction(f.tracker))
	f.AddWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		stream, err := f.tracker.Watch(foosResource, action.GetNamespace())
		return true, stream, err
	})
	return f
}

// Foos returns client-go's fake of the client that pkg/client returns.
func (f *fakeFoos) Foos(namespace string) client.FooInterface {
	return gentype.NewFakeClientWithList(&f.Fake, namespace, foosResource, fooKind,
		func() *samplecontrollerv1alpha1.Foo { return &samplecontrollerv1alpha1.Foo{} },
		func() *samplecontrollerv1alpha1.FooList { return &samplecontrollerv1alpha1.FooList{} },
		func(to, from *samplecontrollerv1alpha1.FooList) { to.ListMeta = from.ListMeta },
		func(list *samplecontrollerv1alpha1.FooList) []*samplecontrollerv1alpha1.Foo {
			return gentype.ToPointerSlice(list.Items)
		},
		func(list *samplecontrollerv1alpha1.FooList, items []*samplecontrollerv1alpha1.Foo) {
			list.Items = gentype.FromPointerSlice(items)
		},
	)
}

type cluster struct {
	*controller
	fakeFoos *fakeFoos
	fakeKube *fake.Clientset
	version  int // the last resourceVersion that was used
	t        *testing.T
}

// newCluster returns a cluster that contains these objects. Its informers resync after each such
// period.
func newCluster(t *testing.T, resync time.Duration, objects ...metav1.Object) *cluster {
	c := &cluster{fakeFoos: newFakeFoos(), fakeKube: fake.NewSimpleClientset(), t: t}
	c.fakeKube.PrependReactor("update", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		deployment := action.(clienttesting.UpdateAction).GetObject().(*appsv1.Deployment)
		deployment.ResourceVersion = c.nextVersion()
		deployment.Generation++
		return false, nil, nil // not handled, so the tracker, which is next in the chain, stores it
	})
	var err error
	if c.controller, err = newController(c.fakeFoos, c.fakeKube, "", resync); err != nil {
		t.Fatal(err)
	}
	c.put(objects...)
	return c
}

func (c *cluster) nextVersion() string { c.version++; return strconv.Itoa(c.version) }

// put creates or replaces objects.
func (c *cluster) put(objects ...metav1.Object) {
	for _, object := range objects {
		tracker, resource := c.trackerOf(object)
		stored := object.(runtime.Object).DeepCopyObject()
		stored.(metav1.Object).SetResourceVersion(c.nextVersion())
		err := tracker.Update(resource, stored, object.GetNamespace())
		if apierrors.IsNotFound(err) {
			err = tracker.Create(resource, stored, object.GetNamespace())
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
		return c.fakeFoos.tracker, foosResource
	}
	return c.fakeKube.Tracker(), deploymentsResource
}

// state describes the cluster, for example as "example is Available, web has 3 replicas".
func (c *cluster) state() string {
	c.t.Helper()
	deployments, err := c.kube.AppsV1().Deployments("").List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	foos, err := c.foos.Foos("").List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	var all []string
	for _, deployment := range deployments.Items {
		all = append(all, fmt.Sprintf("%s has %d replicas", deployment.Name, *deployment.Spec.Replicas))
	}
	for _, foo := range foos.Items {
		reason := "new"
		if condition := meta.FindStatusCondition(foo.Status.Conditions, "Ready"); condition != nil {
			reason = condition.Reason
		}
		all = append(all, foo.Name+" is "+reason)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// start runs the controller with its informers, and returns once it has handled all existing
// objects. stop stops it and waits for its end.
func (c *cluster) start() (stop func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.run(ctx)
	}()
	c.settle()
	return func() {
		cancel()
		<-ended
	}
}

// settle waits until the controller has nothing left to do. The sleep is in the bubble's time, so it
// takes none. It covers what happens at intervals: run checks every 100 ms whether the caches are
// synced, and client-go's mutation detector checks once a second.
func (c *cluster) settle() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}
