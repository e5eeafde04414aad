// Failing requests in Reconcile. Everything before the failure stays done, and the next attempt
// does the rest.

package controller

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

var (
	tdsets      = schedulev2.GroupVersion.WithResource("tdsets").GroupResource()
	errDiskFull = apierrors.NewInternalError(errors.New("the disk is full"))
	errConflict = apierrors.NewConflict(tdsets, "web", errors.New("somebody else wrote first"))
	errReplaced = apierrors.NewInvalid(schema.GroupKind{Kind: "Whatever"}, "web", field.ErrorList{
		field.Invalid(field.NewPath("metadata", "uid"), "the one before", "field is immutable"),
	})
	errInvalid     = apierrors.NewInvalid(schema.GroupKind{Kind: "Whatever"}, "web", nil)
	errNotNow      = apierrors.NewForbidden(tdsets, "web", errors.New("exceeded quota"))
	errNotFound    = apierrors.NewNotFound(tdsets, "web")
	errTerminating = &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "it is being terminated",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
	}}
)

func TestKindsOfErrors(t *testing.T) {
	for sentence, test := range map[string]struct {
		err                       error // of the Deployment; another one may be joined
		wantRefused, wantConflict bool
	}{
		"an invalid object":                 {errInvalid, true, false},
		"a quota":                           {errNotNow, true, false},
		"an admission webhook":              {apierrors.NewBadRequest("an admission webhook has denied it"), true, false},
		"what was being done":               {fmt.Errorf("create the Service: %w", errNotNow), true, false},
		"a reverted write":                  {errOverruled, true, false},
		"a conflict":                        {errConflict, false, true},
		"another UID":                       {errReplaced, false, true},
		"two conflicts":                     {errors.Join(errConflict, errReplaced), false, true},
		"a conflict that hides a failure":   {errors.Join(errConflict, errDiskFull), false, false},
		"a full disk":                       {errDiskFull, false, false},
		"an object that doesn't exist":      {errNotFound, false, false},
		"too many requests":                 {apierrors.NewTooManyRequests("later", 1), false, false},
		"a timeout":                         {apierrors.NewTimeoutError("later", 1), false, false},
		"a closed connection":               {errors.New("connection reset by peer"), false, false},
		"a namespace that is being deleted": {errTerminating, false, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			refused, failed := sortErrors(test.err, nil)
			if (refused != nil) != test.wantRefused || (failed != nil) == test.wantRefused || isConflict(failed) != test.wantConflict {
				t.Errorf("refused: %v, failed: %v, conflict: %v", refused, failed, isConflict(failed))
			}
		})
	}
}

// failures are the requests that may fail, each with a cluster in which it is sent, and the
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
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.refuseNext(test.request, errConflict)

			result, err := c.sync()

			if want := (ctrl.Result{RequeueAfter: conflictPause}); err != nil || result != want || len(c.recorded()) > 0 {
				t.Errorf("got %+v and the error %v, want %+v, no error and no event", result, err, want)
			}
			c.mustSettle()
		})
	}
}

// If the API server refuses a write, somebody has to change something. The status reports it once,
// and the queue retries with backoff.
func TestARefusal(t *testing.T) {
	for sentence, test := range failures() {
		if !test.sync {
			continue
		}
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			for attempt := range 3 {
				c.refuseNext(test.request, errNotNow)

				result, err := c.sync()

				if !errors.Is(err, errNotNow) || !strings.HasPrefix(err.Error(), test.begins) || result != (ctrl.Result{}) {
					t.Errorf("attempt %d: got %+v and the error %v, want one that begins with %q", attempt, result, err, test.begins)
				}
			}
			if got := c.degraded(); got != reasonRefused {
				t.Errorf("Degraded has the reason %q, want %q", got, reasonRefused)
			}
			if diff := cmp.Diff([]string{"Warning Refused " + test.begins + errNotNow.Error()}, c.recorded()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			c.mustSettle()
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
	if got, reason := c.objects(), c.degraded(); reason != reasonInvalidSchedule && (got != want || reason != reasonAsExpected) {
		c.t.Errorf("after the next attempts, got the objects %q, want %q, and Degraded has the reason %q", got, want, reason)
	}
}
