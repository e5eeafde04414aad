// The events that lead to a Reconcile, with real watches: SetupWithManager and controller-runtime
// together.

package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// In each case, the given object exists and has been reconciled before the event.
func TestEventsThatEnqueueATDSet(t *testing.T) {
	type objects = []client.Object
	tdset := aTDSet(withService(80))
	deployment, service, pod := deploymentOf(tdset), serviceOf(tdset), podWithContainer(tdset)
	everywhere := newAudience(t, func(o *cache.Options) { o.DefaultNamespaces = nil }) // each case has a namespace of its own
	for name, test := range map[string]struct {
		given objects
		do    func(*audience, client.Object)
		to    client.Object
		want  []string
	}{
		"it is created":   {nil, made, tdset, []string{"web"}},
		"it is changed":   {objects{tdset}, changed, tdset, []string{"web"}},
		"it is annotated": {objects{tdset}, touched, tdset, []string{"web"}},
		"it is deleted":   {objects{tdset}, deleted, tdset, []string{"web"}},
		"it is refused":   {objects{tdset}, refused, tdset, []string{"web"}},

		// The controller itself wrote that message.
		"the message of its refusal changes": {objects{tdset}, refusedAgain, tdset, nil},

		"its Deployment is created":   {objects{tdset}, made, deployment, []string{"web"}},
		"its Deployment is changed":   {objects{tdset, deployment}, changed, deployment, []string{"web"}},
		"its Deployment is annotated": {objects{tdset, deployment}, touched, deployment, []string{"web"}},
		"its Deployment is deleted":   {objects{tdset, deployment}, deleted, deployment, []string{"web"}},
		"its Service is created":      {objects{tdset}, made, service, []string{"web"}},
		"its Service is annotated":    {objects{tdset, service}, touched, service, []string{"web"}},
		"its Service is deleted":      {objects{tdset, service}, deleted, service, []string{"web"}},

		// The name matters, because it may be free now.
		"somebody else's Deployment with its name is deleted": {objects{tdset, withoutOwner(deployment)}, deleted, deployment, []string{"web"}},
		"somebody else's Service with its name is deleted":    {objects{tdset, withoutOwner(service)}, deleted, service, []string{"web"}},

		"a Deployment whose name no TDSet has is created": {nil, made, deployment, nil},
		"a Service whose name no TDSet has is created":    {nil, made, service, nil},

		// Only the deletion of a Pod matters, for a drain.
		"its Pod is created":   {nil, made, pod, nil},
		"its Pod is annotated": {objects{pod}, touched, pod, nil},
		"its Pod is deleted":   {objects{pod}, deleted, pod, []string{"web"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := everywhere.elsewhere(t)
			for _, object := range test.given {
				made(a, object)
			}
			a.settle()

			test.do(a, test.to)

			if diff := cmp.Diff(test.want, a.settle()); diff != "" {
				t.Errorf("TDSets (-want +got):\n%s", diff)
			}
		})
	}
}

func made(a *audience, object client.Object) {
	must(a.t, a.users.Create(a.t.Context(), a.here(object)))
}
func deleted(a *audience, object client.Object) {
	must(a.t, a.users.Delete(a.t.Context(), a.here(object)))
}
func changed(a *audience, object client.Object) {
	patch := `{"spec":{"replicas":2}}`
	if object.GetObjectKind().GroupVersionKind().Kind == "TDSet" {
		patch = `{"spec":{"defaultReplicas":7}}`
	}
	a.patch(object.DeepCopyObject().(client.Object), object.GetName(), patch)
}

func touched(a *audience, object client.Object) {
	a.patch(object.DeepCopyObject().(client.Object), object.GetName(), `{"metadata":{"annotations":{"touched":"yes"}}}`)
}

func refused(a *audience, _ client.Object) { a.writeStatus(withRefusal("no, request 1")) }

func refusedAgain(a *audience, object client.Object) {
	refused(a, object)
	a.settle()
	a.writeStatus(withRefusal("no, request 2"))
}

func (a *audience) writeStatus(change func(*schedulev2.TDSet)) {
	tdset := a.tdset(a.t.Context())
	change(tdset)
	must(a.t, a.users.Status().Update(a.t.Context(), tdset))
}

func withoutOwner(object client.Object) client.Object {
	object = object.DeepCopyObject().(client.Object)
	unowned(object)
	return object
}

// A resync is an update with the same resourceVersion. That of a TDSet's objects enqueues nothing,
// because the TDSet has a resync of its own, which is off here.
func TestAResyncOfObjectsEnqueuesNothing(t *testing.T) {
	t.Parallel()
	a := newAudience(t, func(o *cache.Options) {
		o.SyncPeriod = new(time.Second) // the shortest possible
		o.ByObject = map[client.Object]cache.ByObject{&schedulev2.TDSet{}: {SyncPeriod: new(time.Duration(0))}}
	})
	tdset := aTDSet(withService(80))
	for _, object := range []client.Object{tdset, deploymentOf(tdset), serviceOf(tdset)} {
		made(a, object)
	}
	if diff := cmp.Diff([]string{"web"}, a.settle()); diff != "" {
		t.Fatalf("TDSets (-want +got):\n%s", diff)
	}
	for _, kind := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}} {
		resyncs := make(chan struct{}, 100)
		informer, err := a.mgr.GetCache().GetInformer(t.Context(), kind)
		must(t, err)
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(old, new any) {
			before, err := meta.Accessor(old)
			must(t, err)
			after, err := meta.Accessor(new)
			must(t, err)
			if before.GetResourceVersion() == after.GetResourceVersion() && after.GetName() == "web" {
				resyncs <- struct{}{}
			}
		}})
		must(t, err)
		for range 2 { // our own handlers were added first, so they have seen one by now
			<-resyncs
		}
	}

	if got := a.settle(); len(got) > 0 {
		t.Errorf("got the TDSets %q, want none", got)
	}
}
