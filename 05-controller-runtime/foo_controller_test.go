// How the controller treats errors that the other tests never see.

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

// A conflict is no failure, so it isn't returned as an error, which controller-runtime would log.
func TestReconcileDecidesWhatIsRetried(t *testing.T) {
	foos := schema.GroupResource{Group: fooKind.Group, Resource: "foos"}
	for sentence, test := range map[string]struct {
		err, wantErr error
		want         ctrl.Result
	}{
		"a Foo that is gone isn't retried":      {err: apierrors.NewNotFound(foos, "example")},
		"a failure is an error":                 {err: errDiskFull, wantErr: errDiskFull},
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
				t.Errorf("got %+v and the error %v, want %+v and %v", result, err, test.want, test.wantErr)
			}
		})
	}
}

// An event handler has nobody to return an error to, so the log is the only place for it.
func TestAnEventThatIsLostIsLogged(t *testing.T) {
	c := controllerWith(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errDiskFull
		},
	})
	log := captureLog(t)

	requests := c.findFoosForDeployment(t.Context(), deploymentOf(aFoo("example", "web", 3)))

	if len(requests) != 0 {
		t.Errorf("got %v, want no requests", requests)
	}
	log.mustHave(t, "Lost an event", errDiskFull.Error(), "default/web")
}

// controllerWith returns a controller whose requests these functions answer.
func controllerWith(answers interceptor.Funcs) *controller {
	return &controller{Client: interceptor.NewClient(fake.NewClientBuilder().Build(), answers)}
}
