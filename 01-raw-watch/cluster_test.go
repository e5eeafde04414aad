// A cluster for tests: an API server in memory, and a controller that uses it over HTTP. A test
// changes the server's objects directly, including their status.

package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/01-raw-watch/wire"
)

type cluster struct {
	*fakeAPI
	*controller
	t *testing.T
}

// newCluster returns a cluster that contains these objects.
func newCluster(t *testing.T, objects ...metav1.Object) *cluster {
	api := newFakeAPI()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	client, err := wire.NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{api, newController(client, ""), t}
	c.put(objects...)
	return c
}

// sync does what the controller does for one event of that Foo.
func (c *cluster) sync(foo string) error {
	return c.syncHandler(c.t.Context(), types.NamespacedName{Namespace: "default", Name: foo})
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

// put creates or replaces objects.
func (c *cluster) put(objects ...metav1.Object) {
	for _, object := range objects {
		stored := &unstructured.Unstructured{}
		convert(c.t, object, &stored.Object)
		c.mu.Lock()
		c.commit(watch.Modified, pathOf(object), stored)
		c.mu.Unlock()
	}
}

// remove deletes an object at once.
func (c *cluster) remove(object metav1.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commit(watch.Deleted, pathOf(object), c.objects[pathOf(object)].DeepCopy())
}

// foo returns the Foo with that name, and deployment the Deployment, or nil if there is none.
func (c *cluster) foo(name string) *samplecontrollerv1alpha1.Foo {
	return read(c, pathOf(aFoo(name, "", 0)), &samplecontrollerv1alpha1.Foo{})
}

func (c *cluster) deployment(name string) *appsv1.Deployment {
	return read(c, pathOf(deploymentOf(aFoo("", name, 0))), &appsv1.Deployment{})
}

// deployments describes all Deployments, for example as "web: 3 × nginx:latest (team blue)".
func (c *cluster) deployments() []string {
	var found []string
	for _, item := range c.list(deploymentsPath(""), nil).Items {
		var d appsv1.Deployment
		convert(c.t, item.Object, &d)
		text := fmt.Sprintf("%s: %d × %s", d.Name, *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image)
		if team, annotated := d.Annotations["team"]; annotated {
			text += " (team " + team + ")"
		}
		found = append(found, text)
	}
	slices.Sort(found)
	return found
}

// ready returns the reason of the Foo's condition Ready, or "" if it has none.
func (c *cluster) ready(foo string) string {
	found := c.foo(foo)
	if found == nil {
		return ""
	}
	condition := meta.FindStatusCondition(found.Status.Conditions, "Ready")
	if condition == nil {
		return ""
	}
	return condition.Reason
}

// requested returns the requests that the controller has sent since the last call, including
// refused ones.
func (c *cluster) requested() []request {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests := c.requests
	c.requests = nil
	return requests
}

// written returns only the writes.
func (c *cluster) written() []string {
	var writes []string
	for _, request := range c.requested() {
		if !slices.Contains([]string{"get", "list", "watch"}, request.verb) {
			writes = append(writes, request.verb+" "+request.on)
		}
	}
	return writes
}

// start runs the controller and returns once it watches. stop stops it and waits for its end.
func (c *cluster) start() (stop func()) {
	var watching sync.WaitGroup
	for _, resource := range []string{"foos", "deployments"} {
		watching.Add(1)
		c.beforeNext("watch", resource, func() *apierrors.StatusError {
			watching.Done()
			return nil
		})
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.run(ctx)
	}()
	watching.Wait()
	return func() {
		cancel()
		<-ended
	}
}

// eventually waits until a condition holds. It checks it again after each change in the cluster.
func (c *cluster) eventually(condition string, holds func() bool) {
	c.t.Helper()
	timeout := time.After(10 * time.Second)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			c.t.Fatalf("still not true after 10 s: %s", condition)
		}
	}
}

func pathOf(object metav1.Object) string {
	if _, isFoo := object.(*samplecontrollerv1alpha1.Foo); isFoo {
		return foosPath(object.GetNamespace()) + "/" + object.GetName()
	}
	return deploymentsPath(object.GetNamespace()) + "/" + object.GetName()
}

func read[T any](c *cluster, path string, into *T) *T {
	stored, err := c.get(path)
	if err != nil {
		return nil
	}
	convert(c.t, stored, into)
	return into
}

// convert goes from one Go type to another through JSON, as a request does.
func convert(t *testing.T, from, to any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatal(err)
	}
}
