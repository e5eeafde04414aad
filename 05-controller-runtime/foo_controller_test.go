// How the controller handles errors that don't occur in the other tests.

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var errDiskFull = errors.New("the disk is full")

// A conflict isn't a failure, so Reconcile doesn't return it as an error, which controller-runtime
// would log.
func TestReconcileResult(t *testing.T) {
	foos := schema.GroupResource{Group: fooKind.Group, Resource: "foos"}
	for sentence, test := range map[string]struct {
		err, wantErr error
		want         ctrl.Result
	}{
		"a Foo that is gone isn't retried":      {err: apierrors.NewNotFound(foos, "example")},
		"a failure is returned as an error":     {err: errDiskFull, wantErr: errDiskFull},
		"a conflict is retried after a pause":   {err: apierrors.NewConflict(foos, "example", nil), want: ctrl.Result{RequeueAfter: time.Second}},
		"a taken name is retried after a pause": {err: apierrors.NewAlreadyExists(foos, "example"), want: ctrl.Result{RequeueAfter: time.Second}},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := controllerWith(interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return test.err
				},
			})

			result, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "example"}})

			if result != test.want || !errors.Is(err, test.wantErr) {
				t.Errorf("Reconcile returned %+v and the error %v, want %+v and %v", result, err, test.want, test.wantErr)
			}
		})
	}
}

// An event handler has nobody to return an error to, so the log is the only place for it.
func TestLostEventIsLogged(t *testing.T) {
	c := controllerWith(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errDiskFull
		},
	})
	log := captureLog(t)

	requests := c.findFoosForDeployment(t.Context(), deploymentOf(aFoo("example", "web", 3)))

	if len(requests) != 0 {
		t.Errorf("findFoosForDeployment returned %v, want no requests", requests)
	}
	log.wantContains(t, "Lost an event", errDiskFull.Error(), "default/web")
}

// controllerWith returns a controller whose requests are answered by these functions.
func controllerWith(answers interceptor.Funcs) *controller {
	return &controller{Client: interceptor.NewClient(fake.NewClientBuilder().Build(), answers)}
}
