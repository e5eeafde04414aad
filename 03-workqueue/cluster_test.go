// A controller for tests, without informers. The test fills the caches, so it decides what the
// controller knows. client-go's fake clientset, whose limits chapter 02's cluster_test.go lists,
// stores the Deployments that the controller creates.

package main

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/03-workqueue/pkg/client"
)

// newTestController returns a controller that records its Events on a channel.
func newTestController(t *testing.T, foos client.Interface, kube kubernetes.Interface, namespace string) (*controller, <-chan string) {
	c, err := newController(t.Context(), foos, kube, namespace, 0)
	must(t, err)
	t.Cleanup(c.queue.ShutDown)
	recorder := record.NewFakeRecorder(100)
	c.recorder = recorder
	return c, recorder.Events
}

type cluster struct {
	*controller
	events <-chan string
	// onUpdate answers each update of a status. If it is nil, the status is in the cache at once.
	onUpdate func(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error
	t        *testing.T
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t}
	c.controller, c.events = newTestController(t, fakeFoos{c: c}, fake.NewSimpleClientset(), "")
	return c
}

// fakeFoos is a client for Foos whose only request is an update of a status.
type fakeFoos struct {
	client.FooInterface
	c *cluster
}

func (f fakeFoos) Foos(string) client.FooInterface { return f }

func (f fakeFoos) UpdateStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, _ metav1.UpdateOptions) (*samplecontrollerv1alpha1.Foo, error) {
	if f.c.onUpdate != nil {
		return foo, f.c.onUpdate(ctx, foo)
	}
	f.c.cache(foo)
	return foo, nil
}

// cache adds or replaces objects in the caches, as the informers would do after an event.
func (c *cluster) cache(objects ...metav1.Object) {
	c.t.Helper()
	for _, object := range objects {
		store := c.deploymentInformer.GetStore()
		if _, isFoo := object.(*samplecontrollerv1alpha1.Foo); isFoo {
			store = c.fooInformer.GetStore()
		}
		must(c.t, store.Update(object))
	}
}

// sync does what a worker does for a key.
func (c *cluster) sync(foo string) error {
	return c.syncHandler(c.t.Context(), types.NamespacedName{Namespace: "default", Name: foo})
}
