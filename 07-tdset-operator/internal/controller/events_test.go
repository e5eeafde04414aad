// Which events of a TDSet bring it. That they arrive at all is in watch_test.go.

package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

func TestNotReworded(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*schedulev1.TDSet)
		want   bool
	}{
		"nothing has changed: a resync":                         {func(*schedulev1.TDSet) {}, true},
		"a refusal has another message":                         {newly(saying("no, request 2")), false},
		"it is no longer refused":                               {newly(func(tdset *schedulev1.TDSet) { degradedOf(tdset).Status = metav1.ConditionFalse }), true},
		"it is refused for another reason":                      {newly(func(tdset *schedulev1.TDSet) { degradedOf(tdset).Reason = reasonReplicaFailure }), true},
		"it has another message, and another image is wanted":   {newly(saying("no, request 2"), func(tdset *schedulev1.TDSet) { tdset.Generation++ }), true},
		"it has another message, and is to go":                  {newly(saying("no, request 2"), beingDeleted), true},
		"it has another message, and somebody has annotated it": {newly(saying("no, request 2"), annotated[*schedulev1.TDSet]), true},
		"somebody has taken the finalizer away":                 {newly(func(tdset *schedulev1.TDSet) { tdset.Finalizers = nil }), true},
		"somebody has changed another part of the status":       {newly(func(tdset *schedulev1.TDSet) { tdset.Status.ActiveWindow = "" }), true},
		"somebody has taken the status away":                    {newly(func(tdset *schedulev1.TDSet) { tdset.Status = schedulev1.TDSetStatus{} }), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := aTDSet(settled, saying("no, request 1"))
			before.ResourceVersion = "1"
			after := before.DeepCopy()
			test.change(after)

			if got := ignoreMessages.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
				t.Errorf("it comes: %v, want %v", got, test.want)
			}
		})
	}
}

// saying is a TDSet that is refused, in these words.
func saying(words string) func(*schedulev1.TDSet) {
	return func(tdset *schedulev1.TDSet) {
		refused := condition(conditionDegraded, true, reasonRefused, "%s", words)
		refused.LastTransitionTime = earlier
		meta.SetStatusCondition(&tdset.Status.Conditions, refused)
	}
}

// newly is what somebody has written.
func newly(changes ...func(*schedulev1.TDSet)) func(*schedulev1.TDSet) {
	return func(tdset *schedulev1.TDSet) {
		tdset.ResourceVersion = "2"
		for _, change := range changes {
			change(tdset)
		}
	}
}

func degradedOf(tdset *schedulev1.TDSet) *metav1.Condition {
	return meta.FindStatusCondition(tdset.Status.Conditions, conditionDegraded)
}
