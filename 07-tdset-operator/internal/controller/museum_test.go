// The bug museum: bugs that operators of this kind are known to have. Each exhibit does it the
// wrong way first, in a few lines of its own, shows the result, and then does it our way. Run one
// with `go test ./internal/controller -v -run TestMuseum/<its name>`.

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

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// All but the last are from one operator for TDSets; the last is from everywhere.
func TestMuseum(t *testing.T) {
	for name, exhibit := range map[string]func(*testing.T){
		"a Deployment of somebody else is scaled":               scalesWhatIsNotIts,
		"an image that was changed is ignored":                  ignoresTheImage,
		"a Service is declared and never made":                  makesNoService,
		"conditions are stuck at Unknown":                       knowsNothing,
		"a Deployment that could not be built is used":          usesWhatIsNil,
		"a Deployment is made while its TDSet is being deleted": makesWhatIsGoing,
		"one conflict costs a whole interval":                   losesAnInterval,
		"hour 23 and windows up to midnight never match":        losesTheNight,
		"scaling is late by up to a day":                        comesLate,
		"a finalizer is added to a TDSet that is being deleted": addsAFinalizerTooLate,
	} {
		t.Run(name, exhibit)
	}
}

// wrongWay is a Reconcile of a TDSet that is there.
type wrongWay func(ctx context.Context, c *cluster, tdset *schedulev1.TDSet) (ctrl.Result, error)

// show tells the same story of a cluster twice. The result is told in words.
func show(t *testing.T, wrong wrongWay, story func(c *cluster, reconciler reconcile.Reconciler) string, wantWrong, want string) {
	t.Run("the wrong way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			got := story(c, reconcile.Func(func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
				tdset := &schedulev1.TDSet{}
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
		t.Errorf("it should have been: %s", want)
	}
}

// look is what reconciler does for some events, with a cache that knows what is in the cluster. A
// panic is an error, as it is in a manager.
func (c *cluster) look(reconciler reconcile.Reconciler) (err error) {
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

// A finalizer that is added to an object that is being deleted is refused: forever, since nothing
// else is done about that object.
func addsAFinalizerTooLate(t *testing.T) {
	c := newBareCluster(t)
	tdset := c.createTDSet(strings.Replace(example, "{name: web}", "{name: web, finalizers: [example.com/theirs]}", 1))
	must(t, c.users.Delete(t.Context(), tdset))
	key := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(tdset)}
	inWords := func(err error) string {
		if err == nil {
			return "it is left alone"
		}
		_, why, _ := strings.Cut(err.Error(), "metadata.finalizers: ")
		why, _, _ = strings.Cut(why, ", found")
		return why
	}

	t.Run("the wrong way", func(t *testing.T) {
		reconciler := reconcile.Func(func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
			tdset := &schedulev1.TDSet{}
			if err := c.Get(ctx, key.NamespacedName, tdset); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			if controllerutil.AddFinalizer(tdset, finalizer) {
				return ctrl.Result{}, c.Update(ctx, tdset)
			}
			return ctrl.Result{}, nil // to do: is it being deleted?
		})
		_, err := reconciler.Reconcile(t.Context(), key)
		tell(t, inWords(err), `Forbidden: no new finalizers can be added if the object is being deleted`)
		if !apierrors.IsInvalid(err) {
			t.Errorf("got the error %v", err)
		}
	})
	t.Run("our way", func(t *testing.T) {
		_, err := c.Reconcile(t.Context(), key)
		tell(t, inWords(err), "it is left alone")
	})
}
