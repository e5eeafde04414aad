// The requests of writes: their field manager, and the UID or resourceVersion that they assume. The
// fake client checks only half of that, so these tests check the requests. refused_test.go has the
// answers of a real API server.

package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

func TestWritesStateTheirAssumptions(t *testing.T) {
	tdset := aTDSet(withService(80))
	changed := aTDSet(known, withService(80))
	c := newCluster(t, tdset)
	var sent []string
	for _, changeByHand := range []func(){
		func() {},
		func() { c.put(changed, deploymentOf(changed, scaledTo(1)), serviceOf(changed, listeningOn(81))) },
		func() { c.put(serviceOf(changed, selecting("other"))) },
		func() {},
		func() { c.put(aTDSet(known)) },
		func() { c.put(aTDSet(beingDeleted), deploymentOf(changed)) },
		func() { c.put(aTDSet(beingDeleted), deploymentOf(changed, scaledTo(0), withPods(0))) },
	} {
		changeByHand()
		versions := map[string]string{"tdsets": c.tdset().ResourceVersion, "tdsets/status": c.tdset().ResourceVersion}
		if deployment := c.deployment(); deployment != nil {
			versions["deployments"] = deployment.ResourceVersion
		}
		if service := c.service(); service != nil {
			versions["services"] = service.ResourceVersion
		}
		_, err := c.sync()
		must(t, err)
		for _, request := range c.requests {
			if !strings.HasPrefix(request.verb, "uncached") {
				details := strings.ReplaceAll(request.details, ", at "+versions[request.resource], ", as it was read")
				sent = append(sent, fmt.Sprintf("%s %s: %s", request, request.name, details))
			}
		}
		c.requests = nil
	}

	want := []string{
		"patch tdsets web: by tdset-controller, as it was read",
		"apply deployments web: by tdset-controller",
		"apply services web: by tdset-controller",
		`apply deployments web: by tdset-controller, forced, if it is "uid of Deployment web"`,
		`patch services web: by tdset-controller, if it is "uid of Service web", as it was read`,
		`apply services web: by tdset-controller, forced, if it is "uid of Service web"`,
		`apply tdsets/status web: by tdset-controller, forced, if it is "uid of web", as it was read`,
		`delete services web: , if it is "uid of Service web"`,
		`apply deployments web: by tdset-controller, forced, if it is "uid of Deployment web", as it was read`,
		"patch tdsets web: by tdset-controller, as it was read",
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// The apply of a status must contain every field, and none that is no longer true.
func TestAStatusIsAppliedWhole(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	for _, want := range []schedulev2.TDSetStatus{
		desiredStatus(aTDSet(), seenAt(noon, aTDSet(), deploymentOf(aTDSet(), withPods(5))), now),
		desiredStatus(aTDSet(), observation{invalid: errDiskFull}, now),
	} {
		must(t, c.updateStatus(t.Context(), c.tdset(), want))

		if diff := cmp.Diff(want, c.tdset().Status); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	}
}

// An apply contains only our conditions, because it would take over those of others.
func TestSomebodyElsesConditionIsNotSent(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	status := schedulev2.TDSetStatus{Conditions: []metav1.Condition{
		{Type: "Blessed", Status: metav1.ConditionTrue, Reason: "ByThePriest", LastTransitionTime: earlier},
		condition(conditionAvailable, true, reasonAvailable, "all is well"),
	}}

	must(t, c.updateStatus(t.Context(), c.tdset(), status))

	if got := c.tdset().Status.Conditions; len(got) != 1 || got[0].Type != conditionAvailable {
		t.Errorf("the apply has the conditions %q, want only ours", inWords(got))
	}
}

// Each write of the TDSet assumes the version that was read, so nothing that was computed from an
// older version is written.
func TestAnOlderTDSetIsNotWritten(t *testing.T) {
	settledAt := func(c *cluster) { c.put(deploymentOf(aTDSet(), withPods(5))) }
	for sentence, test := range map[string]struct {
		given *schedulev2.TDSet
		then  func(c *cluster)
	}{
		"a finalizer for a changed TDSet": {aTDSet(), func(c *cluster) { c.put(aTDSet(withFinalizer(theirFinalizer))) }},
		"a finalizer for a TDSet that is being deleted": {aTDSet(withFinalizer(theirFinalizer)), func(c *cluster) {
			must(c.t, c.server.Delete(c.t.Context(), c.tdset()))
		}},
		"a status for a changed TDSet":   {aTDSet(known), func(c *cluster) { c.put(aTDSet(known, in("Asia/Kolkata"))); settledAt(c) }},
		"a status for a recreated TDSet": {aTDSet(known), func(c *cluster) { c.put(aTDSet(known)); settledAt(c) }},
		"a finalizer to remove from a changed TDSet": {aTDSet(beingDeleted), func(c *cluster) {
			c.put(aTDSet(beingDeleted, withFinalizer(theirFinalizer)))
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given)
			c.informed()
			test.then(c)
			before := c.tdset()

			result, err := c.reconcile()

			must(t, err)
			if result.RequeueAfter != conflictPause {
				t.Errorf("requeued after %v, want %v, as after a conflict", result.RequeueAfter, conflictPause)
			}
			if diff := cmp.Diff(before, c.tdset()); diff != "" {
				t.Errorf("the TDSet was changed (-before +after):\n%s", diff)
			}
			if recorded := c.recorded(); len(recorded) > 0 {
				t.Errorf("got the events %q, want none, because nothing was written", recorded)
			}
		})
	}
}

// Other finalizers stay, in the same order.
func TestFinalizersOfOthersAreKept(t *testing.T) {
	c := newCluster(t, aTDSet(withFinalizer(theirFinalizer)))
	c.settle()
	if diff := cmp.Diff([]string{theirFinalizer, finalizer}, c.tdset().Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}

	must(t, c.server.Delete(t.Context(), c.tdset()))
	c.put(deploymentOf(aTDSet(), scaledTo(0), withPods(0)))
	c.settle()

	if diff := cmp.Diff([]string{theirFinalizer}, c.tdset().Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
}

// If the TDSet is gone already, there is nothing left to do.
func TestTheLastFinalizerOfAGoneTDSet(t *testing.T) {
	c := newCluster(t, aTDSet(beingDeleted))
	c.refuseNext("patch tdsets", errNotFound)

	result, err := c.sync()

	if recorded := c.recorded(); err != nil || result.RequeueAfter != 0 || len(recorded) > 0 {
		t.Errorf("got %+v, the error %v and the events %q, want none of them", result, err, recorded)
	}
}

// A patch of the Service's ports assumes its version. After a refusal, the next attempt starts from
// the new version.
func TestAnOlderServiceIsNotWritten(t *testing.T) {
	tdset := aTDSet(known, withService(80))
	c := newCluster(t, tdset, deploymentOf(tdset), serviceOf(tdset, listeningOn(81)))
	c.informed()
	c.put(serviceOf(tdset, listeningOn(82), annotated))

	result, err := c.reconcile()

	must(t, err)
	if got := c.objects(); result.RequeueAfter != conflictPause || got != "5 × nginx:1.0, 82 → 8080" {
		t.Errorf("got %+v and the Service %q, want a requeue and an unchanged Service", result, got)
	}
	c.settle()
	if got := c.service(); got.Spec.Ports[0].Port != 80 || got.Annotations["team"] != "blue" {
		t.Errorf("after the next attempt, got %+v, want our port", got)
	}
}

func TestIsRefusal(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"422":                      {errInvalid, true},
		"403":                      {errNotNow, true},
		"400":                      {errNonsense, true},
		"with what was being done": {fmt.Errorf("create the Service: %w", errNotNow), true},
		"500":                      {errDiskFull, false},
		"409":                      {errConflict, false},
		"422, for another UID":     {errReplaced, false},
		"404":                      {errNotFound, false},
		"429":                      {apierrors.NewTooManyRequests("later", 1), false},
		"a timeout":                {apierrors.NewTimeoutError("later", 1), false},
		"a closed connection":      {fmt.Errorf("the connection was closed after %v", time.Second), false},
		"no error":                 {nil, false},
	} {
		if got := isRefusal(test.err); got != test.want {
			t.Errorf("%s: isRefusal = %v, want %v", name, got, test.want)
		}
	}
}
