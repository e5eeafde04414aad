// How writes leave: each says in whose name it comes and what it assumes. The fake client looks at
// half of the assumptions, so these tests look at what is sent; what a server says to it is in
// refused_test.go.

package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
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
			if !strings.HasPrefix(request.verb, "live") {
				says := strings.ReplaceAll(request.says, ", at "+versions[request.resource], ", as it was read")
				sent = append(sent, fmt.Sprintf("%s %s: %s", request, request.name, says))
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

// A status is applied field by field: none may be forgotten, and what is no longer true is removed.
func TestAStatusIsAppliedWhole(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	for _, want := range []schedulev1.TDSetStatus{
		desiredStatus(aTDSet(), seenAt(noon, aTDSet(), deploymentOf(aTDSet(), withPods(5))), now),
		desiredStatus(aTDSet(), observation{invalid: errDiskFull}, now),
	} {
		must(t, c.updateStatus(t.Context(), c.tdset(), want))

		if diff := cmp.Diff(want, c.tdset().Status); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	}
}

// Of the conditions, ours alone are sent: those of others would be ours if we sent them.
func TestSomebodyElsesConditionIsNotSent(t *testing.T) {
	c := newCluster(t, aTDSet(known))
	status := schedulev1.TDSetStatus{Conditions: []metav1.Condition{
		{Type: "Blessed", Status: metav1.ConditionTrue, Reason: "ByThePriest", LastTransitionTime: earlier},
		condition(conditionAvailable, true, reasonAvailable, "all is well"),
	}}

	must(t, c.updateStatus(t.Context(), c.tdset(), status))

	if got := c.tdset().Status.Conditions; len(got) != 1 || got[0].Type != conditionAvailable {
		t.Errorf("these were sent: %q", inWords(got))
	}
}

// Each write of the TDSet is for the version that was read: whatever was made from an older one
// isn't written.
func TestAnOlderTDSetIsNotWritten(t *testing.T) {
	settledAt := func(c *cluster) { c.put(deploymentOf(aTDSet(), withPods(5))) }
	for sentence, test := range map[string]struct {
		given *schedulev1.TDSet
		then  func(c *cluster)
	}{
		"a finalizer for one that was changed": {aTDSet(), func(c *cluster) { c.put(aTDSet(withFinalizer(theirFinalizer))) }},
		"a finalizer for one that was told to go": {aTDSet(withFinalizer(theirFinalizer)), func(c *cluster) {
			must(c.t, c.server.Delete(c.t.Context(), c.tdset()))
		}},
		"a status of one that was changed":       {aTDSet(known), func(c *cluster) { c.put(aTDSet(known, in("Asia/Kolkata"))); settledAt(c) }},
		"a status of one that was created again": {aTDSet(known), func(c *cluster) { c.put(aTDSet(known)); settledAt(c) }},
		"a finalizer taken from a changed one": {aTDSet(beingDeleted), func(c *cluster) {
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
				t.Errorf("it is requeued after %v, want %v, as after a conflict", result.RequeueAfter, conflictPause)
			}
			if diff := cmp.Diff(before, c.tdset()); diff != "" {
				t.Errorf("the TDSet was changed (-before +after):\n%s", diff)
			}
			if recorded := c.recorded(); len(recorded) > 0 {
				t.Errorf("users were told %q, and nothing was written", recorded)
			}
		})
	}
}

// The finalizers of others stay, and stay in their order.
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

// What somebody else deletes first is gone, as it should be.
func TestTheLastFinalizerOfWhatIsGone(t *testing.T) {
	c := newCluster(t, aTDSet(beingDeleted))
	c.refuseNext("patch tdsets", errNotFound)

	result, err := c.sync()

	if recorded := c.recorded(); err != nil || result.RequeueAfter != 0 || len(recorded) > 0 {
		t.Errorf("got %+v, %v, and users were told %q, want that there is nothing left to do", result, err, recorded)
	}
}

// A refused patch of the Service's ports is one for that version of it: the next attempt is made
// from what there is then.
func TestAnOlderServiceIsNotWritten(t *testing.T) {
	tdset := aTDSet(known, withService(80))
	c := newCluster(t, tdset, deploymentOf(tdset), serviceOf(tdset, listeningOn(81)))
	c.informed()
	c.put(serviceOf(tdset, listeningOn(82), annotated))

	result, err := c.reconcile()

	must(t, err)
	if got := c.objects(); result.RequeueAfter != conflictPause || got != "5 × nginx:1.0, 82 → 8080" {
		t.Errorf("got %+v, and there is %q", result, got)
	}
	c.settle()
	if got := c.service(); got.Spec.Ports[0].Port != 80 || got.Annotations["team"] != "blue" {
		t.Errorf("after the next attempt: %+v", got)
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
		"no answer":                {fmt.Errorf("the connection was closed after %v", time.Second), false},
		"no error":                 {nil, false},
	} {
		if got := isRefusal(test.err); got != test.want {
			t.Errorf("%s: isRefusal = %v, want %v", name, got, test.want)
		}
	}
}
