// Which events enqueue which Foos, with real watches: tests of SetupWithManager.

package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/05-controller-runtime/test/testenv"
)

// In each case, the given objects exist, and their events have been handled, before do changes an
// object.
func TestWhichEventsEnqueueAFoo(t *testing.T) {
	newRecorder(t).settle() // if a handler is missing, fail here and not after a minute in each case
	type objects = []client.Object
	example, another, renamed := aFoo("example", "web", 1), aFoo("another", "web", 1), aFoo("example", "new", 1)
	web, theirs := deploymentOf(example), deploymentOf(example, unowned)
	for sentence, test := range map[string]struct {
		given objects
		do    func(*recorder, client.Object)
		to    client.Object
		want  []string
	}{
		"a Foo is created":   {nil, (*recorder).create, example, []string{"example"}},
		"a Foo is annotated": {objects{example}, (*recorder).annotate, example, []string{"example"}},
		"a Foo is deleted":   {objects{example}, (*recorder).delete, example, []string{"example"}},

		"its Deployment is annotated":      {objects{example, web}, (*recorder).annotate, web, []string{"example"}},
		"its former Deployment is deleted": {objects{renamed, web}, (*recorder).delete, web, []string{"example"}},

		"a Deployment whose name two Foos ask for is created":                  {objects{example, another}, (*recorder).create, theirs, []string{"another", "example"}},
		"a Deployment of one Foo, whose name another one asks for, is deleted": {objects{renamed, another, web}, (*recorder).delete, web, []string{"another", "example"}},
		"a Deployment that concerns no Foo is created":                         {objects{renamed}, (*recorder).create, theirs, nil},
		"a Deployment is created, and its owner isn't its controller":          {objects{renamed}, (*recorder).create, deploymentOf(example, ownedOnly), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := newRecorder(t)
			for _, object := range test.given {
				r.create(object)
			}
			r.settle()

			test.do(r, test.to)

			if diff := cmp.Diff(test.want, r.settle()); diff != "" {
				t.Errorf("reconciled Foos (-want +got):\n%s", diff)
			}
		})
	}
}

// recorder runs our controller with a client that records which Foos it is asked for, and knows
// none of them.
type recorder struct {
	testenv.Cluster
	keys    chan string
	settled int
	t       *testing.T
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{Cluster: testenv.New(t), keys: make(chan string, 100), t: t}
	mgr := r.NewManager(t)
	foos := &FooReconciler{Client: recordingClient{mgr.GetClient(), r.keys}}
	must(t, foos.SetupWithManager(t.Context(), mgr))
	testenv.Start(t, mgr)
	return r
}

type recordingClient struct {
	client.Client
	keys chan<- string
}

// Get is what each Reconcile begins with.
func (c recordingClient) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	c.keys <- key.Name
	return apierrors.NewNotFound(schema.GroupResource{Resource: "foos"}, key.Name)
}

// settle waits until all earlier events have been handled, and returns the Foos that were
// reconciled since its last call, each once. To find out, it causes one last event for each watch
// and handler: of a Foo, and then of a Deployment whose name that Foo asks for and whose owner is
// another Foo. The handlers, the queue and its only worker keep the order.
func (r *recorder) settle() (names []string) {
	r.t.Helper()
	r.settled++
	asks, owns := fmt.Sprintf("sentinel-%d-asks", r.settled), fmt.Sprintf("sentinel-%d-owns", r.settled)
	r.create(aFoo(asks, asks, 1))
	names = r.until(asks)
	r.create(deploymentOf(aFoo(owns, asks, 1)))
	names = append(names, r.until(asks, owns)...)
	slices.Sort(names)
	return slices.Compact(names)
}

// until waits until all the last keys have come, and returns those before.
func (r *recorder) until(last ...string) (before []string) {
	r.t.Helper()
	for len(last) > 0 {
		select {
		case key := <-r.keys:
			if i := slices.Index(last, key); i >= 0 {
				last = slices.Delete(last, i, i+1)
			} else {
				before = append(before, key)
			}
		case <-time.After(time.Minute):
			r.t.Fatalf("not reconciled after a minute: %q", last)
		}
	}
	return before
}

func (r *recorder) create(object client.Object) {
	r.t.Helper()
	create(r.t, r.Cluster, object.DeepCopyObject().(client.Object))
}

func (r *recorder) annotate(object client.Object) {
	r.t.Helper()
	object.SetNamespace(r.Namespace)
	annotation := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"annotated":"yes"}}}`))
	must(r.t, r.Patch(r.t.Context(), object.DeepCopyObject().(client.Object), annotation))
}

func (r *recorder) delete(object client.Object) {
	r.t.Helper()
	object.SetNamespace(r.Namespace)
	must(r.t, r.Delete(r.t.Context(), object))
}
