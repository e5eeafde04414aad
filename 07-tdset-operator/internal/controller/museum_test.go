// The bug museum: known bugs of operators of this kind. Each exhibit first does it the wrong way,
// in a few lines of code, and logs the result. Then it does it our way. Run one with `go test
// ./internal/controller -v -run TestMuseum/<its name>`.

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// The last bug is common in operators. The others are all from one operator for TDSets.
func TestMuseum(t *testing.T) {
	for name, exhibit := range map[string]func(*testing.T){
		"a Deployment of somebody else is scaled":               scalesAnotherOwnersDeployment,
		"an image that was changed is ignored":                  ignoresTheImage,
		"a Service is declared and never made":                  createsNoService,
		"conditions are stuck at Unknown":                       neverUpdatesTheCondition,
		"a Deployment that could not be built is used":          ignoresAnError,
		"a Deployment is made while its TDSet is being deleted": createsDuringDeletion,
		"one conflict costs a whole interval":                   dropsAnError,
		"hour 23 and windows up to midnight never match":        losesMidnight,
		"scaling is late, and windows are missed":               requeuesByInterval,
		"a finalizer is added to a TDSet that is being deleted": addsAFinalizerDuringDeletion,
	} {
		t.Run(name, exhibit)
	}
}

// wrongWay reconciles a TDSet that exists.
type wrongWay func(ctx context.Context, c *cluster, tdset *schedulev2.TDSet) (ctrl.Result, error)

// show runs the same story with both reconcilers. It logs and compares the results.
func show(t *testing.T, wrong wrongWay, story func(c *cluster, reconciler reconcile.Reconciler) string, wantWrong, want string) {
	t.Run("the wrong way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			got := story(c, reconcile.Func(func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
				tdset := &schedulev2.TDSet{}
				if err := c.Get(ctx, key.NamespacedName, tdset); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				return wrong(ctx, c, tdset)
			}))
			tell(t, got, wantWrong)
		})
	})
	t.Run("our way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			tell(t, story(c, c.TDSetReconciler), want)
		})
	})
}

func tell(t *testing.T, got, want string) {
	t.Helper()
	t.Log(got)
	if got != want {
		t.Errorf("want: %s", want)
	}
}

// reconcileAll calls reconciler for several events, with an up-to-date cache. It returns a panic as
// an error, as a manager does.
func (c *cluster) reconcileAll(reconciler reconcile.Reconciler) (err error) {
	c.t.Helper()
	defer func() {
		if panicked := recover(); panicked != nil {
			err = errors.New("panic: " + panicked.(error).Error())
		}
	}()
	for range 4 {
		c.informed()
		if _, failed := reconciler.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: web}); failed != nil {
			err = failed
		}
	}
	return err
}

// The API server refuses a new finalizer on an object that is being deleted. It does so forever,
// because the controller does nothing else for that object.
func addsAFinalizerDuringDeletion(t *testing.T) {
	c := newRealCluster(t)
	c.make(aTDSet(withFinalizer("example.com/theirs")))
	key := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.tdset())}
	must(t, c.api.Delete(t.Context(), c.tdset()))
	inWords := func(err error) string {
		if err == nil {
			return "no change"
		}
		_, why, _ := strings.Cut(err.Error(), "metadata.finalizers: ")
		why, _, _ = strings.Cut(why, ", found")
		return why
	}

	t.Run("the wrong way", func(t *testing.T) {
		reconciler := reconcile.Func(func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
			tdset := &schedulev2.TDSet{}
			if err := c.Get(ctx, key.NamespacedName, tdset); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			if controllerutil.AddFinalizer(tdset, finalizer) {
				return ctrl.Result{}, c.Update(ctx, tdset)
			}
			return ctrl.Result{}, nil // this never checks whether it is being deleted
		})
		_, err := reconciler.Reconcile(t.Context(), key)
		tell(t, inWords(err), `Forbidden: no new finalizers can be added if the object is being deleted`)
		if !apierrors.IsInvalid(err) {
			t.Errorf("got the error %v, want Invalid", err)
		}
	})
	t.Run("our way", func(t *testing.T) {
		_, err := c.Reconcile(t.Context(), key)
		tell(t, inWords(err), "no change")
	})
}
