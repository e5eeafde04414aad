// A cluster for tests: a fake client as the API server, and a reconciler. Nothing runs by itself. A
// test calls Reconcile, fills the cache, and sets the clock, so it decides what the controller
// knows, and what time it is.

package controller

import (
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// web is the key of the TDSet, its Deployment and its Service.
var web = client.ObjectKey{Namespace: "default", Name: "web"}

type cluster struct {
	*TDSetReconciler
	server      client.WithWatch // the existing objects
	cache       client.Reader    // the objects in the controller's cache
	clock       *stoppedClock
	lock        sync.Mutex // of requests and refusals: the controller may be running
	requests    []request
	refusals    map[string]error
	beforeApply func() // of a Deployment or a Service
	events      <-chan string
	running     movableClock   // for run
	zone        *time.Location // of the times in scaled
	scaled      []string       // the Deployment's scalings, with their times: see run
	replicas    int32          // the last of them
	t           *testing.T
}

// newCluster returns a cluster with these objects, at noon.
func newCluster(t *testing.T, objects ...client.Object) *cluster {
	recorder := events.NewFakeRecorder(100)
	c := &cluster{
		server:   newFake().WithReturnManagedFields().WithGlobalResourceVersionCounter().Build(),
		clock:    &stoppedClock{noon},
		refusals: map[string]error{},
		events:   recorder.Events,
		t:        t,
	}
	c.TDSetReconciler = &TDSetReconciler{
		Client:       interceptor.NewClient(c.server, c.funcs()),
		APIReader:    interceptor.NewClient(c.server, c.apiReaderFuncs()),
		Recorder:     recorder,
		Clock:        c.clock,
		DrainTimeout: time.Minute,
	}
	c.put(objects...)
	return c
}

// stoppedClock returns the time that a test has set.
type stoppedClock struct{ now time.Time }

func (c *stoppedClock) Now() time.Time                        { return c.now }
func (c *stoppedClock) Since(instant time.Time) time.Duration { return c.now.Sub(instant) }

// at returns an hour and minute of the tests' day.
func at(hour, minute int) time.Time {
	return time.Date(2026, time.January, 1, hour, minute, 0, 0, time.UTC)
}

// sync calls Reconcile once, with an up-to-date cache.
func (c *cluster) sync() (ctrl.Result, error) {
	c.t.Helper()
	c.informed()
	return c.reconcile()
}

// reconcile calls Reconcile with the cache as it is.
func (c *cluster) reconcile() (ctrl.Result, error) {
	c.t.Helper()
	return c.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: web})
}

// settle is what the controller does for an event and for those that its own writes cause, until
// there is nothing left to do. It returns the writes, and when the controller wants to be called
// again. More rounds than kinds of write would be a circle.
func (c *cluster) settle() (writes []string, again time.Duration) {
	c.t.Helper()
	for range 4 {
		result, err := c.sync()
		must(c.t, err)
		round := c.written()
		if len(round) == 0 {
			return writes, result.RequeueAfter
		}
		writes = append(writes, round...)
	}
	c.t.Fatalf("the controller writes forever: %q", writes)
	return nil, 0
}

// informed copies the cluster's objects into the cache, as the informers would do.
func (c *cluster) informed() {
	everything := []client.ObjectList{&schedulev2.TDSetList{}, &appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.PodList{}}
	cache := newFake()
	for _, list := range everything {
		must(c.t, c.server.List(c.t.Context(), list))
		if pods, ok := list.(*corev1.PodList); ok { // the manager's cache has only unfinished Pods
			pods.Items = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed })
		}
		cache.WithLists(list)
	}
	c.cache = cache.Build()
}

// somebody is the field manager of everything that the controller hasn't applied.
const somebody = client.FieldOwner("somebody")

// put creates or replaces objects.
func (c *cluster) put(objects ...client.Object) {
	c.t.Helper()
	for _, object := range objects {
		c.remove(object)
		made := object.DeepCopyObject().(client.Object)
		made.SetResourceVersion("")
		made.SetManagedFields(nil)
		made.SetDeletionTimestamp(nil)
		status := schedulev2.TDSetStatus{}
		if tdset, ok := made.(*schedulev2.TDSet); ok {
			tdset.Status, status = status, tdset.Status
		}
		must(c.t, c.server.Create(c.t.Context(), made, somebody))
		if len(status.Conditions) > 0 { // apply it as the controller, because no one else's apply can remove it
			must(c.t, (&TDSetReconciler{Client: c.server}).updateStatus(c.t.Context(), made.(*schedulev2.TDSet), status))
		}
		if !object.GetDeletionTimestamp().IsZero() { // only the API server can set it, and only while there is a finalizer
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
	deleted := !found.GetDeletionTimestamp().IsZero()
	if len(found.GetFinalizers()) > 0 {
		found.SetFinalizers(nil) // the last one: what is being deleted goes with it
		must(c.t, c.server.Update(c.t.Context(), found))
	}
	if !deleted {
		must(c.t, c.server.Delete(c.t.Context(), found))
	}
}
