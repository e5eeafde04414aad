// An audience for events: a controller on a real server whose Reconcile does nothing, so that a
// test sees who comes to it.

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// audience notes who comes, and finds each Foo gone.
type audience struct {
	*realCluster
	mgr       ctrl.Manager
	calls     *calls
	strangers []client.ObjectKey // of other namespaces, by the time of the last settle
}

// newAudience returns the audience of our controller with these options. One worker takes key after
// key, in their order.
func newAudience(t *testing.T, changes ...func(*options)) *audience {
	a := &audience{realCluster: newBareCluster(t), calls: &calls{more: make(chan struct{}, 1)}}
	o := optionsFor(a.namespace)
	for _, change := range changes {
		change(&o)
	}
	var err error
	a.mgr, err = newManager(a.config, o)
	must(t, err)
	must(t, addController(t.Context(), watchedManager{a.mgr, a.calls}))
	runManager(t, a.mgr)
	return a
}

// elsewhere returns the same audience for what happens in another namespace, a new one.
func (a *audience) elsewhere(t *testing.T) *audience {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, a.users.Create(t.Context(), namespace))
	cluster := &realCluster{users: a.users, namespace: namespace.Name, t: t}
	return &audience{realCluster: cluster, calls: a.calls}
}

// here returns a copy of object, to be made in this namespace.
func (a *audience) here(object client.Object) client.Object {
	object = object.DeepCopyObject().(client.Object)
	object.SetNamespace(a.namespace)
	object.SetUID("")
	return object
}

// settle waits until all that has happened has been dealt with, and returns the Foos that have come
// since it was last called, each once. All has been dealt with when those have come whom a last
// event of each watch and handler brings: of Foos, of Deployments by their owner, of Deployments by
// their name.
func (a *audience) settle() (names []string) {
	a.t.Helper()
	a.sentinels++
	const sentinel = "sentinel-"
	wants, owns := fmt.Sprintf(sentinel+"wants-%d", a.sentinels), fmt.Sprintf(sentinel+"owns-%d", a.sentinels)
	must(a.t, a.users.Create(a.t.Context(), a.here(aFoo(wants, wants, 1))))
	before := a.calls.wait(a.t, a.namespace, wants)
	must(a.t, a.users.Create(a.t.Context(), a.here(deploymentOf(aFoo(owns, wants, 1)))))
	after := a.calls.wait(a.t, a.namespace, wants, owns)
	a.strangers = nil
	for _, key := range append(before, after...) {
		switch {
		case key.Namespace != a.namespace:
			a.strangers = append(a.strangers, key)
		case !strings.HasPrefix(key.Name, sentinel):
			names = append(names, key.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// watchedManager is a manager whose client notes whom it is asked for: each Reconcile begins with
// that.
type watchedManager struct {
	ctrl.Manager
	calls *calls
}

func (m watchedManager) GetClient() client.Client {
	return watchedClient{m.Manager.GetClient(), m.calls}
}

type watchedClient struct {
	client.Client
	calls *calls
}

func (c watchedClient) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	c.calls.note(key)
	return apierrors.NewNotFound(schema.GroupResource{Resource: "foos"}, key.Name)
}

// calls are the keys that have come.
type calls struct {
	lock   sync.Mutex
	keys   []client.ObjectKey
	more   chan struct{}
	gaveUp bool // what didn't come once needn't be waited for again
}

func (c *calls) note(key client.ObjectKey) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.keys = append(c.keys, key)
	select {
	case c.more <- struct{}{}:
	default: // the waiting goroutine has been told
	}
}

// wait returns when all these have come, and takes out what has come until then.
func (c *calls) wait(t *testing.T, namespace string, names ...string) []client.ObjectKey {
	t.Helper()
	for {
		c.lock.Lock()
		missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return slices.Contains(c.keys, client.ObjectKey{Namespace: namespace, Name: name})
		})
		if len(missing) == 0 {
			keys := c.keys
			c.keys = nil
			c.lock.Unlock()
			return keys
		}
		c.lock.Unlock()
		if c.gaveUp {
			t.Fatalf("these haven't come: %q", missing)
		}
		select {
		case <-c.more:
		case <-time.After(time.Minute):
			c.gaveUp = true
		}
	}
}
