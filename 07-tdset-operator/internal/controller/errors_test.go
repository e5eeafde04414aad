// What Reconcile does when a request fails. What it has done until then stays done, and the next
// attempt does the rest.

package controller

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	errDiskFull = apierrors.NewInternalError(errors.New("the disk is full"))
	errConflict = apierrors.NewConflict(tdsetsResource, "web", errors.New("somebody else wrote first"))
	errReplaced = apierrors.NewInvalid(schema.GroupKind{Kind: "Whatever"}, "web", field.ErrorList{
		field.Invalid(field.NewPath("metadata", "uid"), "the one before", "field is immutable"),
	})
	errInvalid  = apierrors.NewInvalid(schema.GroupKind{Kind: "Whatever"}, "web", nil)
	errNotNow   = apierrors.NewForbidden(tdsetsResource, "web", errors.New("exceeded quota"))
	errNonsense = apierrors.NewBadRequest("an admission webhook has denied it")
	errNotFound = apierrors.NewNotFound(tdsetsResource, "web")
)

// failures are the requests that may fail, each in a cluster in which it is sent, and how the error
// begins.
func failures() map[string]failure {
	type objects = []client.Object
	tdset := aTDSet(known, withService(80))
	deployment, service := deploymentOf(tdset), serviceOf(tdset)
	return map[string]failure{
		"the TDSet can't be read":            {objects{tdset}, "get tdsets", "", false},
		"the finalizer can't be added":       {objects{aTDSet(withService(80))}, "patch tdsets", "add the finalizer: ", false},
		"the Deployment can't be read":       {objects{tdset}, "get deployments", "get the Deployment: ", true},
		"the server can't be asked for it":   {objects{tdset}, "live get deployments", "get the Deployment: ", true},
		"the Deployment can't be made":       {objects{tdset}, "apply deployments", "create the Deployment: ", true},
		"the Deployment can't be changed":    {objects{tdset, deploymentOf(tdset, scaledTo(1))}, "apply deployments", "update the Deployment: ", true},
		"the Service can't be read":          {objects{tdset}, "get services", "get the Service: ", true},
		"the server can't be asked for that": {objects{tdset}, "live get services", "get the Service: ", true},
		"the Service can't be made":          {objects{tdset}, "apply services", "create the Service: ", true},
		"the Service can't be changed": {
			objects{tdset, deployment, serviceOf(tdset, selecting("other"))}, "apply services", "update the Service: ", true,
		},
		"the Service's port can't be changed": {
			objects{tdset, deployment, serviceOf(tdset, listeningOn(81))}, "patch services", "update the Service: ", true,
		},
		"the Service can't be deleted": {
			objects{aTDSet(known), deployment, service}, "delete services", "delete the Service: ", true,
		},
		"the status can't be written": {objects{tdset, deployment, service}, "apply tdsets/status", "update the status: ", false},
		"an invalid one's Deployment can't be read": {
			objects{aTDSet(known, invalid), deployment}, "get deployments", "get the Deployment: ", false,
		},
	}
}

type failure struct {
	given   []client.Object
	request string
	begins  string
	sync    bool // it is one for the Deployment or the Service: a refusal is in the status
}

// The server fails: the error comes back, and the queue tries again. It isn't reported: the
// next attempt may be a matter of milliseconds.
func TestAServerThatFails(t *testing.T) {
	for sentence, test := range failures() {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			before := c.says()
			c.refuseNext(test.request, errDiskFull)

			_, err := c.sync()

			if !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), test.begins) {
				t.Errorf("got the error %v, want one that begins with %q", err, test.begins)
			}
			if got, recorded := c.says(), c.recorded(); got != before || len(recorded) > 0 {
				t.Errorf("nothing was written, and the status says %q; users were told %q", got, recorded)
			}
			c.mustSettle()
		})
	}
}

// Somebody else wrote first, or what was to be written has been replaced. That is no failure: no
// error, no backoff that grows.
func TestAConflict(t *testing.T) {
	for sentence, test := range failures() {
		for code, conflict := range map[string]error{"409": errConflict, "422": errReplaced} {
			t.Run(sentence+"/"+code, func(t *testing.T) {
				c := newCluster(t, test.given...)
				c.refuseNext(test.request, conflict)

				result, err := c.sync()

				if want := (ctrl.Result{RequeueAfter: conflictPause}); err != nil || result != want {
					t.Errorf("got %+v, %v, want %+v and no error", result, err, want)
				}
				if recorded := c.recorded(); len(recorded) > 0 {
					t.Errorf("nothing was written, and users were told %q", recorded)
				}
				c.mustSettle()
			})
		}
	}
}

// The server refuses: it will say the same again, until somebody changes something. The status says
// so, once, and the queue goes on trying, ever more rarely.
func TestARefusal(t *testing.T) {
	for sentence, test := range failures() {
		if !test.sync {
			continue
		}
		for code, refusal := range map[string]*apierrors.StatusError{"422": errInvalid, "403": errNotNow, "400": errNonsense} {
			t.Run(sentence+"/"+code, func(t *testing.T) {
				c := newCluster(t, test.given...)
				for attempt := range 3 {
					c.refuseNext(test.request, refusal)

					result, err := c.sync()

					if !errors.Is(err, refusal) || !strings.HasPrefix(err.Error(), test.begins) || result != (ctrl.Result{}) {
						t.Errorf("attempt %d: got %+v and the error %v, want one that begins with %q", attempt, result, err, test.begins)
					}
				}
				if got := c.degraded(); got != reasonRefused {
					t.Errorf("Degraded has the reason %q, want %q", got, reasonRefused)
				}
				want := "Warning Refused " + test.begins + refusal.Error()
				if diff := cmp.Diff([]string{want}, c.recorded()); diff != "" {
					t.Errorf("users were told (-want +got):\n%s", diff)
				}
				c.mustSettle()
			})
		}
	}
}

// Not found is an answer like others: it depends on the question whether it is a failure.
func TestWhatIsNotFound(t *testing.T) {
	type objects = []client.Object
	tdset := aTDSet(known, withService(80))
	for sentence, test := range map[string]struct {
		given     []client.Object
		request   string
		wantError bool
	}{
		"the TDSet: it has been deleted, and that is all":               {objects{tdset}, "get tdsets", false},
		"the Deployment in the cache: the server is asked":              {objects{tdset}, "get deployments", false},
		"the Deployment on the server: it is made":                      {objects{tdset}, "live get deployments", false},
		"the Service in the cache: the server is asked":                 {objects{tdset}, "get services", false},
		"the Service on the server: it is made":                         {objects{tdset}, "live get services", false},
		"the Service that is to go: somebody was quicker":               {objects{aTDSet(known), serviceOf(tdset)}, "delete services", false},
		"where the Deployment goes: the namespace is gone":              {objects{tdset}, "apply deployments", true},
		"the TDSet that gets the finalizer: the cache doesn't know yet": {objects{aTDSet()}, "patch tdsets", true},
		"the TDSet whose status it is":                                  {objects{tdset, deploymentOf(tdset), serviceOf(tdset)}, "apply tdsets/status", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.refuseNext(test.request, errNotFound)

			if _, err := c.sync(); apierrors.IsNotFound(err) != test.wantError || !test.wantError && err != nil {
				t.Errorf("got the error %v, want one: %v", err, test.wantError)
			}
		})
	}
}

// mustSettle fails the test if the next attempts don't end with all that the TDSet wants, and a
// status that says so.
func (c *cluster) mustSettle() {
	c.t.Helper()
	_, _ = c.settle()
	want := "5 × nginx:1.0, 80 → 8080"
	if c.tdset().Spec.Service == nil {
		want = "5 × nginx:1.0"
	}
	if got, reason := c.objects(), c.degraded(); reason == reasonInvalidSchedule {
		return
	} else if got != want || reason != reasonAsExpected {
		c.t.Errorf("after the next attempts, there is %q, want %q, and Degraded has the reason %q", got, want, reason)
	}
}
