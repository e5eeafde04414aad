// What each write contains: its field manager, its assumptions and its fields. The fake clientset
// ignores the assumptions, so these tests check what is sent. integration_test.go tests how a real
// server answers.

package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

func TestWritesStateTheirAssumptions(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, deploymentOf(foo), renamed) // resourceVersions 1 and 2

	for _, changeByHand := range []func(){
		func() {},
		func() { c.put(deploymentOf(renamed, scaledTo(1))) },
		func() {},
	} {
		changeByHand()
		if err := c.sync("example"); err != nil {
			t.Fatal(err)
		}
	}

	var assumed []string
	for _, action := range append(c.fakeKube.Actions(), c.fakeFoos.Actions()...) {
		switch action := action.(type) {
		case clienttesting.PatchActionImpl:
			assumed = append(assumed, sent(t, action))
		case clienttesting.DeleteActionImpl:
			assumed = append(assumed, fmt.Sprintf("delete %s %s if it is %q", resourceOf(action), action.Name, *action.DeleteOptions.Preconditions.UID))
		}
	}
	want := []string{
		"apply deployments new by foo-controller",
		`delete deployments web if it is "uid of web"`,
		`apply deployments new by foo-controller, forced, if it is "uid of new"`,
		`apply foos/status example by foo-controller, forced, if it is "uid of example" at 2`,
	}
	if diff := cmp.Diff(want, assumed); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// sent describes an apply, without the fields that it sets.
func sent(t *testing.T, apply clienttesting.PatchActionImpl) string {
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(apply.Patch, &object); err != nil {
		t.Fatal(err)
	}
	description := fmt.Sprintf("apply %s %s by %s", resourceOf(apply), apply.Name, apply.PatchOptions.FieldManager)
	if ptr.Deref(apply.PatchOptions.Force, false) {
		description += ", forced"
	}
	if object.UID != "" {
		description += fmt.Sprintf(", if it is %q", object.UID)
	}
	if object.ResourceVersion != "" {
		description += " at " + object.ResourceVersion
	}
	return description
}

// updateFooStatus copies the status field by field, so a new field is easily forgotten.
func TestTheWholeStatusIsApplied(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo)
	want := samplecontrollerv1alpha1.FooStatus{
		AvailableReplicas: 3, ObservedGeneration: 7,
		Conditions: []metav1.Condition{aCondition("Ready", "all is well")},
	}

	if err := c.updateFooStatus(t.Context(), foo, want); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want, c.foo("example").Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// The controller would own every condition that it applies. So it applies only its own, and others
// keep theirs.
func TestOtherPeoplesConditionsStayTheirs(t *testing.T) {
	foo := aFoo("example", "web", 3)
	foo.Status.Conditions = []metav1.Condition{aCondition("Blessed", "amen")}
	c := newCluster(t, foo, deploymentOf(foo, available(3)))

	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	for condition, want := range map[string][]string{"Blessed": {somebody}, "Ready": {fieldOwner}} {
		if diff := cmp.Diff(want, ownersOf(c.foo("example"), "f:status", "f:conditions", `k:{"type":"`+condition+`"}`)); diff != "" {
			t.Errorf("owners of the condition %s (-want +got):\n%s", condition, diff)
		}
	}
}

// If somebody else has deleted a former Deployment first, that is no error, because it is gone as
// it should be.
func TestDeletingADeletedDeployment(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, renamed, deploymentOf(foo), deploymentOf(renamed))
	c.refuseNext("delete", "deployments", apierrors.NewNotFound(deploymentsResource.GroupResource(), "web"))

	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	if got := c.ready("example"); got != "Progressing" {
		t.Errorf("Ready has the reason %q, want Progressing", got)
	}
}

// bookkeeping ignores the fields that change with every write.
var bookkeeping = cmpopts.IgnoreFields(appsv1.Deployment{}, "ResourceVersion", "Generation", "ManagedFields")

// When the controller reverts a change of its own fields, it keeps all other fields.
func TestOtherFieldsAreKept(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo, deploymentOf(foo, available(3), annotated, withSidecars, scaledTo(1)))

	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	want := deploymentOf(foo, available(3), annotated, withSidecars)
	if diff := cmp.Diff(want, c.deployment("web"), bookkeeping); diff != "" {
		t.Errorf("Deployment (-want +got):\n%s", diff)
	}
}

func aCondition(conditionType, message string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionTrue, Reason: "Tested", Message: message,
		ObservedGeneration: 7, LastTransitionTime: earlier,
	}
}
