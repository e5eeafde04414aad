// A cluster for tests: controller-runtime's fake client as the API server, and a reconciler.
// Nothing runs by itself. A test calls Reconcile, fills the cache, sets the clock and refuses
// requests, so it decides what the controller knows, and what time it is.
//
// The fake client leaves out a lot. It has no validation and no defaults, it sets no UIDs, and it
// ignores the UID that a write assumes (stale_test.go asks a real API server). There are no other
// controllers and no garbage collector.

package controller

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
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
	lock        sync.Mutex // of writes and refusals: the controller may be running
	writes      []string
	refusals    map[string]error
	beforeApply func() // called once, before a Deployment or a Service is applied
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
		Client:       interceptor.NewClient(interceptor.NewClient(c.server, c.writeFuncs()), c.reads("", func() client.Reader { return c.cache })),
		APIReader:    interceptor.NewClient(c.server, c.reads("uncached ", func() client.Reader { return c.server })),
		Recorder:     recorder,
		Clock:        c.clock,
		DrainTimeout: time.Minute,
	}
	c.put(objects...)
	return c
}

func newFake() *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(scheme.Scheme).WithStatusSubresource(&schedulev2.TDSet{})
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
	cache := newFake()
	for _, list := range []client.ObjectList{&schedulev2.TDSetList{}, &appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.PodList{}} {
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
		tdset, isTDSet := object.(*schedulev2.TDSet)
		if isTDSet {
			made.(*schedulev2.TDSet).Status = schedulev2.TDSetStatus{}
		}
		must(c.t, c.server.Create(c.t.Context(), made, somebody))
		if isTDSet && len(tdset.Status.Conditions) > 0 { // apply it as the controller, because no one else's apply can remove it
			must(c.t, (&TDSetReconciler{Client: c.server}).updateStatus(c.t.Context(), made.(*schedulev2.TDSet), tdset.Status))
		}
		if !object.GetDeletionTimestamp().IsZero() { // only the API server can set it, and only while there is a finalizer
			must(c.t, c.server.Delete(c.t.Context(), made))
		}
	}
}

// remove deletes an object at once, with its finalizers.
func (c *cluster) remove(object client.Object) {
	c.t.Helper()
	found := object.DeepCopyObject().(client.Object)
	if err := c.server.Get(c.t.Context(), client.ObjectKeyFromObject(object), found); err != nil {
		must(c.t, client.IgnoreNotFound(err))
		return
	}
	found.SetFinalizers(nil)
	must(c.t, c.server.Update(c.t.Context(), found))
	must(c.t, client.IgnoreNotFound(c.server.Delete(c.t.Context(), found)))
}

// change changes the TDSet's spec, as a user does.
func (c *cluster) change(change func(*schedulev2.TDSetSpec)) {
	c.t.Helper()
	tdset := c.tdset()
	change(&tdset.Spec)
	tdset.Generation++
	must(c.t, c.server.Update(c.t.Context(), tdset, somebody))
}

// becomesAvailable acts as the Deployment controller: all desired Pods are available, and all
// others are gone.
func (c *cluster) becomesAvailable(deployment *appsv1.Deployment) {
	before := deployment.DeepCopy()
	withPods(replicasOf(deployment))(deployment)
	must(c.t, c.server.Status().Patch(c.t.Context(), deployment, client.MergeFrom(before)))
}

// tdset returns the TDSet, or an empty one.
func (c *cluster) tdset() *schedulev2.TDSet {
	found := &schedulev2.TDSet{}
	must(c.t, client.IgnoreNotFound(c.server.Get(c.t.Context(), web, found)))
	return found
}

// deployment returns the Deployment with the TDSet's name, or an empty one.
func (c *cluster) deployment() *appsv1.Deployment {
	found := &appsv1.Deployment{}
	must(c.t, client.IgnoreNotFound(c.server.Get(c.t.Context(), web, found)))
	return found
}

func (c *cluster) service() *corev1.Service {
	found := &corev1.Service{}
	must(c.t, client.IgnoreNotFound(c.server.Get(c.t.Context(), web, found)))
	return found
}

// objects describes the objects with the TDSet's name, such as "5 × nginx:1.0, 80 → 8080".
func (c *cluster) objects() string {
	var found []string
	if d := c.deployment(); d.Name != "" {
		found = append(found, fmt.Sprintf("%d × %s", replicasOf(d), d.Spec.Template.Spec.Containers[0].Image))
	}
	for _, port := range c.service().Spec.Ports {
		found = append(found, fmt.Sprintf("%d → %s", port.Port, port.TargetPort.String()))
	}
	return strings.Join(found, ", ")
}

// status returns the active window in the TDSet's status, and the reasons of its conditions: "9-17:
// ReplicasAvailable, RolledOut, AsExpected". It is empty if there are no conditions.
func (c *cluster) status() string {
	status := c.tdset().Status
	var reasons []string
	for _, name := range []string{conditionAvailable, conditionProgressing, conditionDegraded} {
		if condition := meta.FindStatusCondition(status.Conditions, name); condition != nil {
			reasons = append(reasons, condition.Reason)
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	return status.ActiveWindow + ": " + strings.Join(reasons, ", ")
}

// degraded returns the reason of the TDSet's condition Degraded.
func (c *cluster) degraded() string {
	reasons := strings.Split(c.status(), ", ")
	return reasons[len(reasons)-1]
}

// recorded returns the events that the controller has recorded since the last call.
func (c *cluster) recorded() []string {
	var events []string
	for len(c.events) > 0 {
		events = append(events, <-c.events)
	}
	return events
}
