// Failing requests in Reconcile. Everything before the failure stays done, and the next attempt
// does the rest.

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

// failures returns the requests that may fail, each with a cluster in which it is sent, and the
// beginning of the error.
func failures() map[string]failure {
	type objects = []client.Object
	tdset := aTDSet(known, withService(80))
	deployment, service := deploymentOf(tdset), serviceOf(tdset)
	return map[string]failure{
		"the TDSet can't be read":           {objects{tdset}, "get tdsets", "", false},
		"the finalizer can't be added":      {objects{aTDSet(withService(80))}, "patch tdsets", "add the finalizer: ", false},
		"the Deployment can't be read":      {objects{tdset}, "get deployments", "get the Deployment: ", true},
		"the Deployment can't be confirmed": {objects{tdset}, "uncached get deployments", "get the Deployment: ", true},
		"the Deployment can't be created":   {objects{tdset}, "apply deployments", "create the Deployment: ", true},
		"the Deployment can't be changed":   {objects{tdset, deploymentOf(tdset, scaledTo(1))}, "apply deployments", "update the Deployment: ", true},
		"the Service can't be read":         {objects{tdset}, "get services", "get the Service: ", true},
		"the Service can't be confirmed":    {objects{tdset}, "uncached get services", "get the Service: ", true},
		"the Service can't be created":      {objects{tdset}, "apply services", "create the Service: ", true},
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
		"an invalid TDSet's Deployment can't be read": {
			objects{aTDSet(known, invalid), deployment}, "get deployments", "get the Deployment: ", false,
		},
	}
}

type failure struct {
	given   []client.Object
	request string
	begins  string
	sync    bool // it is about the Deployment or the Service, so a refusal is in the status
}

// If the API server fails, Reconcile returns the error, and the queue retries. The status doesn't
// report it, because the retry may come within milliseconds.
func TestTheAPIServerFails(t *testing.T) {
	for sentence, test := range failures() {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			before := c.status()
			c.refuseNext(test.request, errDiskFull)

			_, err := c.sync()

			if !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), test.begins) {
				t.Errorf("got the error %v, want one that begins with %q", err, test.begins)
			}
			if got, recorded := c.status(), c.recorded(); got != before || len(recorded) > 0 {
				t.Errorf("got the status %q and the events %q, want neither", got, recorded)
			}
			c.mustSettle()
		})
	}
}

// A conflict (somebody else wrote first, or replaced the object) is no failure: there is no error,
// and no growing backoff.
func TestAConflict(t *testing.T) {
	for sentence, test := range failures() {
		for code, conflict := range map[string]error{"409": errConflict, "422": errReplaced} {
			t.Run(sentence+"/"+code, func(t *testing.T) {
				c := newCluster(t, test.given...)
				c.refuseNext(test.request, conflict)

				result, err := c.sync()

				if want := (ctrl.Result{RequeueAfter: conflictPause}); err != nil || result != want {
					t.Errorf("got %+v and the error %v, want %+v and no error", result, err, want)
				}
				if recorded := c.recorded(); len(recorded) > 0 {
					t.Errorf("got the events %q, want none", recorded)
				}
				c.mustSettle()
			})
		}
	}
}

// If the API server refuses a write, somebody has to change something. The status reports it once,
// and the queue retries with backoff.
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
					t.Errorf("events (-want +got):\n%s", diff)
				}
				c.mustSettle()
			})
		}
	}
}

// "Not found" is a failure for some requests only.
func TestNotFound(t *testing.T) {
	type objects = []client.Object
	tdset := aTDSet(known, withService(80))
	for sentence, test := range map[string]struct {
		given     []client.Object
		request   string
		wantError bool
	}{
		"the TDSet: it is gone, so there is nothing to do": {objects{tdset}, "get tdsets", false},
		"the Deployment in the cache: ask the API server":  {objects{tdset}, "get deployments", false},
		"the Deployment in the API server: create it":      {objects{tdset}, "uncached get deployments", false},
		"the Service in the cache: ask the API server":     {objects{tdset}, "get services", false},
		"the Service in the API server: create it":         {objects{tdset}, "uncached get services", false},
		"the Service to delete: somebody else deleted it":  {objects{aTDSet(known), serviceOf(tdset)}, "delete services", false},
		"the Deployment's namespace":                       {objects{tdset}, "apply deployments", true},
		"the TDSet that gets the finalizer":                {objects{aTDSet()}, "patch tdsets", true},
		"the TDSet that gets the status":                   {objects{tdset, deploymentOf(tdset), serviceOf(tdset)}, "apply tdsets/status", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.refuseNext(test.request, errNotFound)

			if _, err := c.sync(); apierrors.IsNotFound(err) != test.wantError || !test.wantError && err != nil {
				t.Errorf("got the error %v, want an error: %v", err, test.wantError)
			}
		})
	}
}

// mustSettle fails the test unless the next attempts lead to the desired objects and the right
// status.
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
		c.t.Errorf("after the next attempts, got the objects %q, want %q, and Degraded has the reason %q", got, want, reason)
	}
}
