// What Reconcile returns when a request fails: what it was about to do, with the error in it, so
// that the key comes back. What it has done until then stays done, and the next attempt does the
// rest.

package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var errDiskFull = apierrors.NewInternalError(errors.New("the disk is full"))

// Not every error is a failure. A failure is logged, and retried with growing pauses.
func TestReconcileDecidesWhatIsRetried(t *testing.T) {
	web := aFoo("example", "web", 3)
	for sentence, test := range map[string]struct {
		refusal, wantErr error
		want             ctrl.Result
	}{
		"a failure is retried":                     {refusal: errDiskFull, wantErr: errDiskFull},
		"a conflict is retried, and is no failure": {refusal: apierrors.NewConflict(deploymentsResource.GroupResource(), "web", nil), want: ctrl.Result{RequeueAfter: conflictPause}},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, web)
			c.informed()
			c.refuseNext("apply deployments", test.refusal)

			result, err := c.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(web)})

			if result != test.want || !errors.Is(err, test.wantErr) {
				t.Errorf("got %+v and the error %v, want %+v and %v", result, err, test.want, test.wantErr)
			}
		})
	}
}

func TestReconcileReturnsWhatFails(t *testing.T) {
	web, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	for sentence, test := range map[string]struct {
		given      []client.Object
		request    string
		want       string   // how the error begins
		wantWrites []string // before, the failed one included
	}{
		"the Foo can't be read": {
			given:   []client.Object{web},
			request: "get foos",
		},
		"the Deployment can't be read": {
			given:   []client.Object{web},
			request: "get deployments",
			want:    "get Deployment web: ",
		},
		"the server can't be asked": {
			given:   []client.Object{web},
			request: "live get deployments",
			want:    "get Deployment web: ",
		},
		"the Deployment can't be made": {
			given:      []client.Object{web},
			request:    "apply deployments",
			want:       "create Deployment web: ",
			wantWrites: []string{"apply deployments"},
		},
		"the Deployment can't be changed": {
			given:      []client.Object{web, deploymentOf(web, scaledTo(1))},
			request:    "apply deployments",
			want:       "update Deployment web: ",
			wantWrites: []string{"apply deployments"},
		},
		"the former ones can't be found": {
			given:   []client.Object{renamed, deploymentOf(web), deploymentOf(renamed)},
			request: "list deployments",
			want:    "list the Deployments of the Foo: ",
		},
		"the former one can't be deleted": {
			given:      []client.Object{renamed, deploymentOf(web), deploymentOf(renamed)},
			request:    "delete deployments",
			want:       "delete Deployment web: ",
			wantWrites: []string{"delete deployments"},
		},
		"the status can't be written": {
			given:      []client.Object{web, deploymentOf(web, available(3))},
			request:    "apply foos/status",
			want:       "update the status: ",
			wantWrites: []string{"apply foos/status"},
		},
	} {
		for kind, failure := range map[string]struct {
			err error
			is  func(error) bool
		}{
			"the server fails":          {errDiskFull, apierrors.IsInternalError},
			"somebody else wrote first": {apierrors.NewConflict(foosResource.GroupResource(), "example", nil), apierrors.IsConflict},
		} {
			t.Run(sentence+"/"+kind, func(t *testing.T) {
				c := newCluster(t, test.given...)
				c.refuseNext(test.request, failure.err)

				err := c.sync("example")

				if !failure.is(err) || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("got the error %v, want one that begins with %q and has %v in it", err, test.want, failure.err)
				}
				if diff := cmp.Diff(test.wantWrites, c.written()); diff != "" {
					t.Errorf("writes (-want +got):\n%s", diff)
				}
				if recorded := c.recorded(); len(recorded) != 0 {
					t.Errorf("users were told %q, though nothing has come of it", recorded)
				}

				c.settle("example")
				if got := c.ready("example"); got != "Progressing" && got != "Available" {
					t.Errorf("after the next attempts, Ready has the reason %q", got)
				}
				if got := c.deployments(); len(got) != 1 || !strings.HasPrefix(got[0], c.foo("example").Spec.DeploymentName+": 3") {
					t.Errorf("after the next attempts, the Deployments are %q", got)
				}
			})
		}
	}
}

// Not found is an answer like others: it depends on the question whether it is a failure.
func TestReconcileAndWhatIsNotFound(t *testing.T) {
	web, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	moved := []client.Object{renamed, deploymentOf(web), deploymentOf(renamed)}
	for sentence, test := range map[string]struct {
		given     []client.Object
		request   string
		wantError bool
	}{
		"the Foo: it has been deleted, and that is all":                      {[]client.Object{web}, "get foos", false},
		"the Deployment in the cache: the server is asked":                   {[]client.Object{web}, "get deployments", false},
		"the Deployment on the server: it is made":                           {[]client.Object{web}, "live get deployments", false},
		"the former Deployment: somebody was quicker":                        {moved, "delete deployments", false},
		"where the Deployment goes: the namespace is gone, or the CRD is":    {[]client.Object{web}, "apply deployments", true},
		"the Foo whose status it is: it is tried again, and then it is gone": {[]client.Object{web, deploymentOf(web)}, "apply foos/status", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.refuseNext(test.request, apierrors.NewNotFound(foosResource.GroupResource(), "example"))

			if err := c.sync("example"); apierrors.IsNotFound(err) != test.wantError || !test.wantError && err != nil {
				t.Errorf("got the error %v, want one: %v", err, test.wantError)
			}
		})
	}
}

// An admission webhook puts back what is applied: nothing has changed, so no event follows, and
// those that the Deployment's own controller causes get no further. A Foo has no status then, as
// the README says. Chapter 07 looks whether an apply has changed anything.
func TestWhatIsPutBackAtOnce(t *testing.T) {
	web := aFoo("example", "web", 3)
	c := newCluster(t, web, deploymentOf(web, running("mirror/nginx"), available(3)))
	c.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return nil
		},
	})

	for range 3 {
		if err := c.sync("example"); err != nil || c.ready("example") != "" {
			t.Errorf("error: %v; Ready has the reason %q: mend the README, it has got better", err, c.ready("example"))
		}
	}
}
