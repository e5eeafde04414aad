package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The controller would own every condition that it applies. So it applies only its own, and others
// keep theirs. It copies the status field by field, so a new field is easily forgotten.
func TestOtherPeoplesConditionsStayTheirs(t *testing.T) {
	foo := aFoo("example", "web", 3)
	foo.Generation = 7
	foo.Status.Conditions = []metav1.Condition{{Type: "Blessed", Status: metav1.ConditionTrue, Reason: "ByThePriest"}}
	c := newCluster(t, foo)
	deployment := deploymentOf(foo)
	deployment.Status.AvailableReplicas = 2
	want := desiredStatus(foo, deployment, nil, metav1.Unix(0, 0))

	must(t, c.updateFooStatus(t.Context(), foo, want))

	if diff := cmp.Diff(want, c.foo("example").Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	for condition, want := range map[string]string{"Blessed": somebody, "Ready": fieldOwner} {
		if diff := cmp.Diff([]string{want}, ownersOf(c.foo("example"), "f:status", "f:conditions", `k:{"type":"`+condition+`"}`)); diff != "" {
			t.Errorf("owners of the condition %s (-want +got):\n%s", condition, diff)
		}
	}
}
