// An audience for events: a controller on a real server whose Reconcile does nothing, so that a
// test sees who comes to it.

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

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// sentinel begins the names of those who come only so that it is known who has come before.
const sentinel = "sentinel-"

// audience notes who comes, and finds each TDSet gone.
type audience struct {
	*realCluster
	mgr   ctrl.Manager
	calls *calls
}

// newAudience returns the audience of our controller with these options. One worker takes key after
// key, in their order.
func newAudience(t *testing.T, changes ...func(*cache.Options)) *audience {
	a := &audience{realCluster: newBareCluster(t), calls: &calls{more: make(chan struct{}, 1)}}
	a.mgr = a.newManager(1, changes...)
	reconciler := &TDSetReconciler{Client: watchedClient{a.mgr.GetClient(), a.calls}}
	must(t, reconciler.SetupWithManager(t.Context(), a.mgr))
	runManager(t, a.mgr)
	// Nobody is worked on before all watches have begun. A Pod that comes and goes before that
	// leaves no trace.
	must(t, a.users.Create(t.Context(), a.here(aTDSet(named(sentinel+"first")))))
	a.calls.wait(t, a.namespace, sentinel+"first")
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
	if service, ok := object.(*corev1.Service); ok {
		service.Spec.ClusterIP = "" // the server chooses one
	}
	return object
}

// settle waits until all that has happened has been dealt with, and returns the names of those who
// have come since it was last called, each once. All has been dealt with when those have come whom
// a last event of each watch brings.
func (a *audience) settle() (names []string) {
	a.t.Helper()
	a.sentinels++
	last := func(of string) *schedulev1.TDSet {
		return aTDSet(withService(80), named(fmt.Sprintf(sentinel+"%s-%d", of, a.sentinels)))
	}
	pod := podWithContainer(last("pod"))
	for _, object := range []client.Object{last("tdset"), deploymentOf(last("deployment")), serviceOf(last("service")), pod} {
		must(a.t, a.users.Create(a.t.Context(), a.here(object)))
	}
	must(a.t, a.users.Delete(a.t.Context(), a.here(pod)))
	for _, key := range a.calls.wait(a.t, a.namespace, last("tdset").Name, last("deployment").Name, last("service").Name, last("pod").Name) {
		if key.Namespace == a.namespace && !strings.HasPrefix(key.Name, sentinel) {
			names = append(names, key.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// podWithContainer returns a Pod of tdset's, as a server takes it.
func podWithContainer(tdset *schedulev1.TDSet) *corev1.Pod {
	pod := podOf(tdset)
	pod.Spec.Containers = []corev1.Container{{Name: containerName, Image: tdset.Spec.Container.Image}}
	return pod
}

// watchedClient is a client that notes whom it is asked for: each Reconcile begins with that.
type watchedClient struct {
	client.Client
	calls *calls
}

func (c watchedClient) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	c.calls.note(key)
	return apierrors.NewNotFound(tdsetsResource, key.Name)
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
	default: // the waiting test has been told
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
