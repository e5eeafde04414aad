// An audience for events: a controller on a real API server, whose Reconcile only records the keys.

package controller

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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// sentinel is the prefix of objects whose events mark the end of all earlier events.
const sentinel = "sentinel-"

// audience records the keys. It pretends that every TDSet is gone.
type audience struct {
	*realCluster
	mgr   ctrl.Manager
	calls *calls
}

// newAudience returns an audience for our controller with these options. It has one worker, which
// takes the keys in order.
func newAudience(t *testing.T, changes ...func(*cache.Options)) *audience {
	a := &audience{realCluster: newBareCluster(t), calls: &calls{more: make(chan struct{}, 1)}}
	a.mgr = a.newManager(1, changes...)
	reconciler := &TDSetReconciler{Client: watchedClient{a.mgr.GetClient(), a.calls}}
	must(t, reconciler.SetupWithManager(a.mgr))
	runManager(t, a.mgr)
	// No key is processed before all watches have begun. A Pod that is created and deleted earlier
	// causes no event.
	must(t, a.users.Create(t.Context(), a.here(aTDSet(named(sentinel+"first")))))
	a.calls.wait(t, a.namespace, sentinel+"first")
	return a
}

// elsewhere returns the same audience for a new namespace.
func (a *audience) elsewhere(t *testing.T) *audience {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, a.users.Create(t.Context(), namespace))
	cluster := &realCluster{users: a.users, namespace: namespace.Name, t: t}
	return &audience{realCluster: cluster, calls: a.calls}
}

// here returns a copy of object for this namespace.
func (a *audience) here(object client.Object) client.Object {
	object = object.DeepCopyObject().(client.Object)
	object.SetNamespace(a.namespace)
	object.SetUID("")
	if service, ok := object.(*corev1.Service); ok {
		service.Spec.ClusterIP = "" // the API server chooses one
	}
	return object
}

// settle waits until all events so far have been processed, and returns the enqueued names since
// the last call, without duplicates. To find out, it causes a last event in each watch, and waits
// for their keys. An object's event only enqueues a TDSet that exists, so the TDSets come first.
func (a *audience) settle() (names []string) {
	a.t.Helper()
	a.sentinels++
	last := func(of string) *schedulev2.TDSet {
		return aTDSet(withService(80), named(fmt.Sprintf(sentinel+"%s-%d", of, a.sentinels)))
	}
	deployment, service, pod := last("deployment"), last("service"), podWithContainer(last("pod"))
	must(a.t, a.users.Create(a.t.Context(), a.here(deployment)))
	must(a.t, a.users.Create(a.t.Context(), a.here(service)))
	keys := a.calls.wait(a.t, a.namespace, deployment.Name, service.Name)
	for _, object := range []client.Object{deploymentOf(deployment), serviceOf(service), pod} {
		must(a.t, a.users.Create(a.t.Context(), a.here(object)))
	}
	must(a.t, a.users.Delete(a.t.Context(), a.here(pod)))
	keys = append(keys, a.calls.wait(a.t, a.namespace, deployment.Name, service.Name, last("pod").Name)...)
	for _, key := range keys {
		if key.Namespace == a.namespace && !strings.HasPrefix(key.Name, sentinel) {
			names = append(names, key.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// podWithContainer returns a Pod of tdset that an API server accepts.
func podWithContainer(tdset *schedulev2.TDSet) *corev1.Pod {
	pod := podOf(tdset)
	pod.Spec.Containers = []corev1.Container{{Name: containerName, Image: tdset.Spec.Container.Image}}
	return pod
}

// watchedClient records the keys of Get, which is the first call of each Reconcile.
type watchedClient struct {
	client.Client
	calls *calls
}

func (c watchedClient) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	c.calls.note(key)
	return apierrors.NewNotFound(tdsetsResource, key.Name)
}

// calls has the recorded keys.
type calls struct {
	lock   sync.Mutex
	keys   []client.ObjectKey
	more   chan struct{}
	gaveUp bool // after a timeout, don't wait again
}

func (c *calls) note(key client.ObjectKey) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.keys = append(c.keys, key)
	select {
	case c.more <- struct{}{}:
	default: // the waiting test has been notified already
	}
}

// wait waits for all these names, and returns and removes the recorded keys.
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
			t.Fatalf("these keys were not enqueued: %q", missing)
		}
		select {
		case <-c.more:
		case <-time.After(time.Minute):
			c.gaveUp = true
		}
	}
}
