// Failing requests in Reconcile. Everything before the failure stays done, and the next attempt
// does the rest.

package controller

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	"sigs.k8s.io/controller-runtime/pkg/event"

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
			refused, failed := splitErrors(test.err, nil)
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
	}
}

type failure struct {
	given   []client.Object
	request string
	begins  string
	sync    bool // it is about the Deployment or the Service, so the status reports it
}

// If the API server fails, Reconcile returns the error, and the queue retries. If the request was
// about the Deployment or the Service, the status reports the failure once.
func TestTheAPIServerFails(t *testing.T) {
	for sentence, test := range failures() {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			before := c.status()
			for range 3 {
				c.written() // those of the attempts before
				c.refuseNext(test.request, errDiskFull)

				_, err := c.sync()

				if !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), test.begins) {
					t.Errorf("got the error %v, want one that begins with %q", err, test.begins)
				}
			}

			var wantEvents []string
			if test.sync {
				wantEvents = []string{"Warning Failed " + messageFailed}
				if again := c.written(); c.degraded() != reasonFailed || slices.Contains(again, "apply tdsets/status") {
					t.Errorf("the status is %q, and the last attempt wrote %q, want Failed, and no write of the status", c.status(), again)
				}
			} else if got := c.status(); got != before {
				t.Errorf("the status is %q, want %q as before", got, before)
			}
			if diff := cmp.Diff(wantEvents, c.recorded()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			c.mustSettle()
		})
	}
}

// Nobody would see the failure if the conflict hid it.
func TestAFailureAndAConflictOfTheStatus(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	c.refuseNext("apply deployments", errDiskFull)
	c.refuseNext("apply tdsets/status", errConflict)

	if _, err := c.sync(); !apierrors.IsInternalError(err) {
		t.Errorf("got the error %v, want the failure", err)
	}
}

// An invalid schedule is reported even if its Deployment can't be read. Then the status admits that
// it doesn't know whether Pods are available.
func TestAnInvalidScheduleAndAFailure(t *testing.T) {
	tdset := aTDSet(known, invalid)
	c := newCluster(t, tdset, deploymentOf(tdset))
	c.refuseNext("get deployments", errDiskFull)

	_, err := c.sync()

	if !apierrors.IsInternalError(err) || !strings.HasPrefix(err.Error(), "get the Deployment: ") {
		t.Errorf("got the error %v, want the failed read", err)
	}
	if got, want := c.status(), ": Failed, Failed, InvalidSchedule"; got != want {
		t.Errorf("the status is %q, want %q", got, want)
	}
}

// The retry of a failure succeeds before the cache has the status that reports it. So the retry
// sees nothing to write, and only the event of our own write can correct the status.
func TestTheCacheIsOlderThanTheStatus(t *testing.T) {
	c := newCluster(t, aTDSet(settled))
	c.put(deploymentOf(c.tdset(), withPods(5)))
	c.settle()
	before := c.tdset()
	c.refuseNext("get deployments", errDiskFull)
	_, _ = c.reconcile()
	after := c.tdset()

	_, err := c.reconcile() // with the same cache
	must(t, err)

	if got := c.degraded(); got != reasonFailed {
		t.Fatalf("Degraded has the reason %q, want Failed, because the retry couldn't know that", got)
	}
	if !ignoreRepeatedRefusals.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("the event of the status is dropped")
	}
	c.mustSettle()
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
