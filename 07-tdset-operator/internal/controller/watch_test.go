// Who comes to Reconcile, by real watches: what SetupWithManager says, controller-runtime does.

package controller

import (
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// In each case, the given object exists and has been reconciled before the event.
func TestWhatBringsATDSet(t *testing.T) {
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
		"it is made":      {nil, made, tdset, []string{"web"}},
		"it is changed":   {objects{tdset}, changed, tdset, []string{"web"}},
		"it is annotated": {objects{tdset}, touched, tdset, []string{"web"}},
		"it is deleted":   {objects{tdset}, deleted, tdset, []string{"web"}},
		"it is refused":   {objects{tdset}, refused, tdset, []string{"web"}},

		// Those words are its own.
		"it is refused again, in other words": {objects{tdset}, refusedAgain, tdset, nil},

		"its Deployment is made":      {nil, made, deployment, []string{"web"}},
		"its Deployment is changed":   {objects{deployment}, changed, deployment, []string{"web"}},
		"its Deployment is annotated": {objects{deployment}, touched, deployment, []string{"web"}},
		"its Deployment is deleted":   {objects{deployment}, deleted, deployment, []string{"web"}},
		"its Service is made":         {nil, made, service, []string{"web"}},
		"its Service is annotated":    {objects{service}, touched, service, []string{"web"}},
		"its Service is deleted":      {objects{service}, deleted, service, []string{"web"}},

		// The name is what matters: who has it now may be about to give it up.
		"a Deployment of its name that isn't its own is deleted": {objects{unownedBy(deployment)}, deleted, deployment, []string{"web"}},
		"a Service of its name that isn't its own is deleted":    {objects{unownedBy(service)}, deleted, service, []string{"web"}},

		// Of Pods, only the end matters, and that to a drain.
		"its Pod is made":      {nil, made, pod, nil},
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
		patch = `{"spec":{"defaultReplica":7}}`
	}
	a.patch(object.DeepCopyObject().(client.Object), object.GetName(), patch)
}

func touched(a *audience, object client.Object) {
	a.patch(object.DeepCopyObject().(client.Object), object.GetName(), `{"metadata":{"annotations":{"touched":"yes"}}}`)
}

func refused(a *audience, _ client.Object) { a.writeStatus(saying("no, request 1")) }

func refusedAgain(a *audience, object client.Object) {
	refused(a, object)
	a.settle()
	a.writeStatus(saying("no, request 2"))
}

func (a *audience) writeStatus(change func(*schedulev1.TDSet)) {
	tdset := a.tdset(a.t.Context())
	change(tdset)
	must(a.t, a.users.Status().Update(a.t.Context(), tdset))
}

func unownedBy(object client.Object) client.Object {
	object = object.DeepCopyObject().(client.Object)
	unowned(object)
	return object
}

// Nobody can set this machine's clock for a test. So it looks for the goroutine that would notice;
// what that does is in clock_test.go.
func TestTheClockIsWatched(t *testing.T) {
	newAudience(t)
	var stacks strings.Builder
	must(t, pprof.Lookup("goroutine").WriteTo(&stacks, 2)) // with the functions that started them
	if !strings.Contains(stacks.String(), "(*TDSetReconciler).watchClock.") {
		t.Error("no goroutine watches the clock")
	}
}

// A resync, which is an update to the same resourceVersion, brings each TDSet, but none for the
// sake of its objects.
func TestAResyncOfItsObjectsBringsNobody(t *testing.T) {
	t.Parallel()
	a := newAudience(t, func(o *cache.Options) { o.SyncPeriod = new(time.Second) }) // it can't be shorter
	a.createTDSet(example)
	ghost := aTDSet(named("ghost"), withService(80)) // it would come for its objects' sake alone
	made(a, deploymentOf(ghost))
	made(a, serviceOf(ghost))
	if diff := cmp.Diff([]string{"ghost", "web"}, a.settle()); diff != "" {
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
			if before.GetResourceVersion() == after.GetResourceVersion() && after.GetName() == "ghost" {
				resyncs <- struct{}{}
			}
		}})
		must(t, err)
		for range 2 { // our own handlers came first, so they have seen one of them
			<-resyncs
		}
	}

	if diff := cmp.Diff([]string{"web"}, a.settle()); diff != "" {
		t.Errorf("TDSets (-want +got):\n%s", diff)
	}
}
