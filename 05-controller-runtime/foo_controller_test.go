// How the controller handles errors that don't occur in the other tests. Its client is a fake.

package main

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

var errDiskFull = errors.New("the disk is full")

// A conflict isn't a failure, so Reconcile doesn't return it as an error, which controller-runtime
// would log.
func TestReconcileResult(t *testing.T) {
	foo := aFoo("example", "web", 1)
	conflict := apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, "web", nil)
	scaled := deploymentOf(foo, scaledTo(7), func(web *appsv1.Deployment) { web.ResourceVersion = "7" })
	for sentence, test := range map[string]struct {
		stored             []client.Object
		get, apply, status error
		version            string // after the apply
		want               ctrl.Result
		wantErr            error
		wantStatuses       int
	}{
		"a Foo that is gone isn't retried":          {},
		"a failed read is returned":                 {get: errDiskFull, wantErr: errDiskFull},
		"a write's event does the rest":             {stored: []client.Object{foo, scaled}, version: "8"},
		"a write that changes nothing is a failure": {stored: []client.Object{foo, scaled}, version: "7", wantErr: errOverruled, wantStatuses: 1},
		"a failed write is returned as well":        {stored: []client.Object{foo}, apply: errDiskFull, wantErr: errDiskFull, wantStatuses: 1},
		"a failure isn't hidden by a conflict":      {stored: []client.Object{foo}, apply: errDiskFull, status: conflict, wantErr: errDiskFull, wantStatuses: 1},
		"two failures are both returned":            {stored: []client.Object{foo}, apply: errDiskFull, status: errOverruled, wantErr: errOverruled, wantStatuses: 1},
		"a conflict is retried after a pause":       {stored: []client.Object{foo}, apply: conflict, want: ctrl.Result{RequeueAfter: time.Second}},
	} {
		t.Run(sentence, func(t *testing.T) {
			statuses := 0
			r := reconcilerWith(interceptor.Funcs{
				Get: func(ctx context.Context, stored client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					return cmp.Or(test.get, stored.Get(ctx, key, object, options...))
				},
				Apply: func(_ context.Context, _ client.WithWatch, desired runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
					desired.(*appsv1ac.DeploymentApplyConfiguration).WithResourceVersion(test.version)
					return test.apply
				},
				SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
					statuses++
					return test.status
				},
			}, test.stored...)

			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(foo)})

			if result != test.want || !errors.Is(err, test.wantErr) || statuses != test.wantStatuses {
				t.Errorf("Reconcile returned %+v and the error %v after %d status writes, want %+v, %v and %d",
					result, err, statuses, test.want, test.wantErr, test.wantStatuses)
			}
		})
	}
}

// Without a backoff, a refusal whose message differs each time would be retried all the time.
func TestIgnoreRepeatedRefusals(t *testing.T) {
	refused := func(message string, changes ...func(*samplecontrollerv1alpha1.Foo)) *samplecontrollerv1alpha1.Foo {
		foo := aFoo("example", "web", 1)
		foo.Status.Conditions = []metav1.Condition{{Type: conditionReady, Status: metav1.ConditionFalse, Reason: reasonRefused, Message: message}}
		for _, change := range changes {
			change(foo)
		}
		return foo
	}
	nextGeneration := func(foo *samplecontrollerv1alpha1.Foo) { foo.Generation++ }
	for sentence, test := range map[string]struct {
		before, after *samplecontrollerv1alpha1.Foo
		want          bool // whether the update enqueues the Foo
	}{
		"it is refused again, with another message": {refused("used: 1"), refused("used: 2"), false},
		"it is refused for the first time":          {aFoo("example", "web", 1), refused("used: 1"), true},
		"the refusal is over":                       {refused("used: 1"), aFoo("example", "web", 1), true},
		"its spec is changed":                       {refused("used: 1"), refused("used: 1", nextGeneration), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := ignoreRepeatedRefusals.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
				t.Errorf("the update enqueues the Foo: %v, want %v", got, test.want)
			}
		})
	}
}

// An event handler has nobody to return an error to, so the log is the only place for it.
func TestLostEventIsLogged(t *testing.T) {
	r := reconcilerWith(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errDiskFull
		},
	})
	var logged strings.Builder
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { logged.WriteString(line) }, funcr.Options{}))

	requests := r.findFoosForDeployment(ctx, deploymentOf(aFoo("example", "web", 3)))

	if len(requests) != 0 {
		t.Errorf("findFoosForDeployment returned %v, want no requests", requests)
	}
	for _, want := range []string{"Lost an event", errDiskFull.Error(), `"name"="web"`} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log doesn't contain %q:\n%s", want, logged.String())
		}
	}
}

// reconcilerWith returns a reconciler for these objects, whose requests these functions answer.
func reconcilerWith(answers interceptor.Funcs, stored ...client.Object) *FooReconciler {
	api := interceptor.NewClient(fake.NewClientBuilder().WithObjects(stored...).Build(), answers)
	return &FooReconciler{Client: api, APIReader: api, Recorder: events.NewFakeRecorder(10)}
}
