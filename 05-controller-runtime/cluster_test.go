// A cluster for tests: a fake client in place of an API server, and a reconciler on it. Nothing
// runs: a test calls Reconcile, and fills by hand what the manager's cache would have, so it
// decides what the controller knows.

package main

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

type cluster struct {
	*reconciler
	server      client.WithWatch // what there is
	cache       client.Reader    // what the controller knows of it
	requests    []request
	refusals    map[string]error
	beforeApply func() // of a Deployment
	events      <-chan string
	t           *testing.T
}

// newCluster returns a cluster in which these objects are.
func newCluster(t *testing.T, objects ...client.Object) *cluster {
	recorder := events.NewFakeRecorder(100)
	c := &cluster{
		server:   newFake(t).WithReturnManagedFields().WithGlobalResourceVersionCounter().Build(),
		refusals: map[string]error{},
		events:   recorder.Events,
		t:        t,
	}
	c.reconciler = &reconciler{
		Client:   interceptor.NewClient(c.server, c.funcs()),
		live:     interceptor.NewClient(c.server, interceptor.Funcs{Get: c.liveGet}),
		recorder: recorder,
	}
	c.put(objects...)
	return c
}

// sync is what the controller does for one event of that Foo, with a cache that knows what is in
// the cluster.
func (c *cluster) sync(foo string) error {
	c.t.Helper()
	c.informed()
	return c.reconcile(foo)
}

// reconcile syncs the Foo with the cached objects. It returns the error that Reconcile would look
// at to decide about a retry.
func (c *cluster) reconcile(foo string) error {
	c.t.Helper()
	return c.syncHandler(c.t.Context(), client.ObjectKey{Namespace: "default", Name: foo})
}

// settle is what the controller does for an event of that Foo and for those that its own writes
// cause, until there is nothing left to do. It returns the writes. More rounds than kinds of write
// would be a circle.
func (c *cluster) settle(foo string) (writes []string) {
	c.t.Helper()
	for range 4 {
		must(c.t, c.sync(foo))
		round := c.written()
		if len(round) == 0 {
			return writes
		}
		writes = append(writes, round...)
	}
	c.t.Fatalf("it goes on writing: %q", writes)
	return nil
}

// informed fills the cache with what is in the cluster, as the informers would do a moment later.
func (c *cluster) informed() {
	var foos v1alpha1.FooList
	var deployments appsv1.DeploymentList
	must(c.t, c.server.List(c.t.Context(), &foos))
	must(c.t, c.server.List(c.t.Context(), &deployments))
	c.cache = newFake(c.t).WithLists(&foos, &deployments).Build()
}

// somebody is the field manager of all that the controller hasn't applied.
const somebody = client.FieldOwner("somebody")

// put makes objects be as given, whatever was there before.
func (c *cluster) put(objects ...client.Object) {
	c.t.Helper()
	for _, object := range objects {
		c.remove(object)
		made := object.DeepCopyObject().(client.Object)
		made.SetResourceVersion("")
		made.SetManagedFields(nil)
		must(c.t, c.server.Create(c.t.Context(), made, somebody))
		if !object.GetDeletionTimestamp().IsZero() { // only the server sets it, and for as long as there is a finalizer
			must(c.t, c.server.Delete(c.t.Context(), made))
		}
	}
}

// remove deletes an object at once.
func (c *cluster) remove(object client.Object) {
	c.t.Helper()
	found := object.DeepCopyObject().(client.Object)
	switch err := c.server.Get(c.t.Context(), client.ObjectKeyFromObject(object), found); {
	case apierrors.IsNotFound(err):
		return
	case err != nil:
		c.t.Fatal(err)
	}
	if found.GetDeletionTimestamp().IsZero() {
		found.SetFinalizers(nil)
		must(c.t, c.server.Update(c.t.Context(), found))
		must(c.t, c.server.Delete(c.t.Context(), found))
		return
	}
	found.SetFinalizers(nil) // the last one: then it goes
	must(c.t, c.server.Update(c.t.Context(), found))
}

// deployment returns the Deployment of that name: nil if there is none.
func (c *cluster) deployment(name string) *appsv1.Deployment {
	var found appsv1.Deployment
	if err := c.server.Get(c.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, &found); err != nil {
		return nil
	}
	return &found
}

// deployments says what Deployments there are, in the manner of "web: 3 × nginx:latest".
func (c *cluster) deployments() []string {
	var list appsv1.DeploymentList
	must(c.t, c.server.List(c.t.Context(), &list))
	var found []string
	for _, d := range list.Items {
		found = append(found, fmt.Sprintf("%s: %d × %s", d.Name, *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image))
	}
	slices.Sort(found)
	return found
}

// foo returns the Foo of that name: an empty one if there is none.
func (c *cluster) foo(name string) *v1alpha1.Foo {
	var found v1alpha1.Foo
	if err := c.server.Get(c.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, &found); err != nil {
		return &v1alpha1.Foo{}
	}
	return &found
}

// ready returns the reason of the Foo's condition Ready, or "" if it has none.
func (c *cluster) ready(foo string) string {
	condition := meta.FindStatusCondition(c.foo(foo).Status.Conditions, "Ready")
	if condition == nil {
		return ""
	}
	return condition.Reason
}
