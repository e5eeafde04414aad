// A cluster for tests: fake clientsets in place of an API server, client-go's own and the generated
// one, and a controller that uses them. No informer runs. The test fills the caches, so it decides
// what the controller knows.
//
// Both clientsets are created by NewClientset, which knows field management. It merges applies by
// the types' schema and records owners, and without force, a field that somebody else owns is a
// conflict. (A NewSimpleClientset answers 404 to every apply that would create an object.) This is
// what they lack (client-go, testing/fixture.go), so integration_*_test.go ask a real server:
//   - Assumptions: a UID or a resourceVersion in an apply is stored, not compared, and a delete's
//     preconditions are ignored.
//   - Validation: a second controller among the owners is accepted, and so is a changed selector, or
//     an apply without a field manager, under the name "unknown". There are no defaults.
//   - Subresources: an apply to foos/status is an apply to the whole Foo. It would change the spec,
//     or create a missing Foo.
//   - UIDs, resourceVersions, generations: "Object content does not get changed".
//   - The garbage collector, the Deployment controller and all others: no Pod starts unless the
//     test does that.

package main

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
	foofake "example.com/operators/04-codegen/pkg/generated/clientset/versioned/fake"
)

var (
	foosResource        = schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithResource("foos")
	deploymentsResource = appsv1.SchemeGroupVersion.WithResource("deployments")
)

// newTestController returns a controller whose Events go nowhere.
func newTestController(t *testing.T, foos versioned.Interface, kube kubernetes.Interface, namespace string) *controller {
	c, err := newController(t.Context(), foos, kube, namespace, 0)
	must(t, err)
	t.Cleanup(c.queue.ShutDown)
	c.recorder = record.NewFakeRecorder(100)
	return c
}

type cluster struct {
	*controller
	fakeFoos *foofake.Clientset
	fakeKube *fake.Clientset
	t        *testing.T
}

// newCluster returns a cluster that contains these objects.
func newCluster(t *testing.T, objects ...metav1.Object) *cluster {
	c := &cluster{fakeFoos: foofake.NewClientset(), fakeKube: fake.NewClientset(), t: t}
	c.controller = newTestController(t, c.fakeFoos, c.fakeKube, "")
	c.put(objects...)
	return c
}

// sync does what the controller does for one event of that Foo, with caches that are up to date.
func (c *cluster) sync(foo string) error {
	c.informed()
	return c.syncHandler(c.t.Context(), types.NamespacedName{Namespace: "default", Name: foo})
}

// informed fills the caches with the cluster's objects, as the informers would do a moment later.
func (c *cluster) informed() {
	c.t.Helper()
	foos, err := c.foos.SamplecontrollerV1alpha1().Foos("").List(c.t.Context(), metav1.ListOptions{})
	must(c.t, err)
	deployments, err := c.kube.AppsV1().Deployments("").List(c.t.Context(), metav1.ListOptions{})
	must(c.t, err)
	must(c.t, c.fooInformer.GetStore().Replace(itemsOf(c.t, foos), ""))
	must(c.t, c.deploymentInformer.GetStore().Replace(itemsOf(c.t, deployments), ""))
	c.fakeKube.ClearActions()
}

func itemsOf(t *testing.T, list runtime.Object) (items []any) {
	t.Helper()
	must(t, meta.EachListItem(list, func(item runtime.Object) error { items = append(items, item); return nil }))
	return items
}

// somebody is the field manager of all writes that the controller doesn't make.
const somebody = "somebody"

// put creates or replaces objects.
func (c *cluster) put(objects ...metav1.Object) {
	c.t.Helper()
	for _, object := range objects {
		tracker, resource := c.trackerOf(object)
		stored := object.(runtime.Object).DeepCopyObject()
		err := tracker.Update(resource, stored, object.GetNamespace(), metav1.UpdateOptions{FieldManager: somebody})
		if apierrors.IsNotFound(err) {
			err = tracker.Create(resource, stored, object.GetNamespace(), metav1.CreateOptions{FieldManager: somebody})
		}
		must(c.t, err)
	}
}

func (c *cluster) trackerOf(object metav1.Object) (clienttesting.ObjectTracker, schema.GroupVersionResource) {
	if _, isFoo := object.(*samplecontrollerv1alpha1.Foo); isFoo {
		return c.fakeFoos.Tracker(), foosResource
	}
	return c.fakeKube.Tracker(), deploymentsResource
}

// foo returns the Foo of that name, and deployment the Deployment, or nil if there is none.
func (c *cluster) foo(name string) *samplecontrollerv1alpha1.Foo {
	return get[samplecontrollerv1alpha1.Foo](c.fakeFoos.Tracker(), foosResource, name)
}

func (c *cluster) deployment(name string) *appsv1.Deployment {
	return get[appsv1.Deployment](c.fakeKube.Tracker(), deploymentsResource, name)
}

func get[T any](tracker clienttesting.ObjectTracker, resource schema.GroupVersionResource, name string) *T {
	found, err := tracker.Get(resource, "default", name)
	if err != nil {
		return nil
	}
	return any(found).(*T)
}

// deployments describes all Deployments, for example as "web: 3 × nginx:latest".
func (c *cluster) deployments() (found []string) {
	c.t.Helper()
	list, err := c.kube.AppsV1().Deployments("").List(c.t.Context(), metav1.ListOptions{})
	must(c.t, err)
	for _, d := range list.Items {
		found = append(found, fmt.Sprintf("%s: %d × %s", d.Name, *d.Spec.Replicas, d.Spec.Template.Spec.Containers[0].Image))
	}
	slices.Sort(found)
	return found
}
