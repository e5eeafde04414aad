// A controller on a real server whose Reconcile only records its keys, so that a test can check
// which events enqueue which Foos.

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

// keyRecorder runs our controller with a client that records which Foos it is asked for, and
// returns NotFound for each of them.
type keyRecorder struct {
	*realCluster
	mgr     ctrl.Manager
	calls   *calls
	foreign []client.ObjectKey // keys of other namespaces before the last settle
}

// newKeyRecorder returns a keyRecorder with these options. Its only worker processes the keys one
// after the other, in the order of the queue. All informers have synced, because the objects of
// their first lists have a lower priority in the queue than those of later events.
func newKeyRecorder(t *testing.T, changes ...func(*ctrl.Options)) *keyRecorder {
	r := &keyRecorder{realCluster: newBareCluster(t), calls: &calls{more: make(chan struct{}, 1)}}
	o := optionsFor(r.namespace)
	for _, change := range changes {
		change(&o)
	}
	var err error
	r.mgr, err = ctrl.NewManager(r.config, o)
	must(t, err)
	must(t, addController(t.Context(), recordingManager{r.mgr, r.calls}))
	runManager(t, r.mgr)
	r.settle()
	return r
}

// inNewNamespace returns the same keyRecorder for the events in a new namespace.
func (r *keyRecorder) inNewNamespace(t *testing.T) *keyRecorder {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, r.users.Create(t.Context(), namespace))
	cluster := &realCluster{users: r.users, namespace: namespace.Name, t: t}
	return &keyRecorder{realCluster: cluster, calls: r.calls}
}

// here returns a copy of object for this namespace. It isn't created yet.
func (r *keyRecorder) here(object client.Object) client.Object {
	object = object.DeepCopyObject().(client.Object)
	object.SetNamespace(r.namespace)
	object.SetUID("")
	return object
}

// settle waits until all earlier events have been handled, and returns the Foos that were
// reconciled since its last call, each once. To find out, it causes one last event for each watch
// and handler (of a Foo, of a Deployment by its owner, and of a Deployment by its name) and waits
// for their keys.
func (r *keyRecorder) settle() (names []string) {
	r.t.Helper()
	r.sentinels++
	const sentinel = "sentinel-"
	wants, owns := fmt.Sprintf(sentinel+"wants-%d", r.sentinels), fmt.Sprintf(sentinel+"owns-%d", r.sentinels)
	must(r.t, r.users.Create(r.t.Context(), r.here(aFoo(wants, wants, 1))))
	before := r.calls.wait(r.t, r.namespace, wants)
	must(r.t, r.users.Create(r.t.Context(), r.here(deploymentOf(aFoo(owns, wants, 1)))))
	after := r.calls.wait(r.t, r.namespace, wants, owns)
	r.foreign = nil
	for _, key := range append(before, after...) {
		switch {
		case key.Namespace != r.namespace:
			r.foreign = append(r.foreign, key)
		case !strings.HasPrefix(key.Name, sentinel):
			names = append(names, key.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// recordingManager is a manager whose client records the keys that it is asked for. Each Reconcile
// begins with that.
type recordingManager struct {
	ctrl.Manager
	calls *calls
}

func (m recordingManager) GetClient() client.Client {
	return recordingClient{m.Manager.GetClient(), m.calls}
}

type recordingClient struct {
	client.Client
	calls *calls
}

func (c recordingClient) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	c.calls.record(key)
	return apierrors.NewNotFound(schema.GroupResource{Resource: "foos"}, key.Name)
}

// calls are the keys of the calls of Reconcile.
type calls struct {
	lock   sync.Mutex
	keys   []client.ObjectKey
	more   chan struct{}
	gaveUp bool // after a timeout, don't wait a second time
}

func (c *calls) record(key client.ObjectKey) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.keys = append(c.keys, key)
	select {
	case c.more <- struct{}{}:
	default: // the waiting goroutine will look anyway
	}
}

// wait waits until all these keys are recorded. It returns all keys so far, and removes them.
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
			t.Fatalf("not reconciled after a minute: %q", missing)
		}
		select {
		case <-c.more:
		case <-time.After(time.Minute):
			c.gaveUp = true
		}
	}
}
