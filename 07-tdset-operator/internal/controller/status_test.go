// The status of a TDSet: the window, the replicas, and the next transition. conditions_test.go has
// the conditions.

package controller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

var (
	earlier = metav1.NewTime(at(11, 0))
	now     = metav1.NewTime(noon)
)

func TestDesiredStatus(t *testing.T) {
	for name, test := range map[string]struct {
		tdset   *schedulev2.TDSet
		instant time.Time
		want    schedulev2.TDSetStatus // without the conditions
	}{
		"in a window": {
			aTDSet(), noon,
			schedulev2.TDSetStatus{ActiveWindow: "9-17", DesiredReplicas: new(int32(5)), NextTransitionTime: &metav1.Time{Time: at(17, 0)}},
		},
		"in no window": {
			aTDSet(), at(3, 0),
			schedulev2.TDSetStatus{ActiveWindow: "default", DesiredReplicas: new(int32(2)), NextTransitionTime: &metav1.Time{Time: at(9, 0)}},
		},
		"in a window with 0 replicas": {
			aTDSet(with(aWindow(9, 17, 0))), noon,
			schedulev2.TDSetStatus{ActiveWindow: "9-17", DesiredReplicas: new(int32(0)), NextTransitionTime: &metav1.Time{Time: at(17, 0)}},
		},
		"in a window that is always active": {
			aTDSet(with(aWindow(0, 24, 4))), noon,
			schedulev2.TDSetStatus{ActiveWindow: "0-24", DesiredReplicas: new(int32(4))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.tdset.Generation, test.want.ObservedGeneration = 7, 7

			got := desiredStatus(test.tdset, seenAt(test.instant, test.tdset, deploymentOf(test.tdset)), now)

			for _, condition := range got.Conditions {
				if since := condition.LastTransitionTime; condition.ObservedGeneration != 7 || !since.Equal(&now) {
					t.Errorf("the condition %s has the generation %d and the time %v", condition.Type, condition.ObservedGeneration, since)
				}
			}
			got.Conditions = nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// An invalid schedule has no window and no replicas, and the earlier ones are removed from the
// status.
func TestDesiredStatusOfAnInvalidSchedule(t *testing.T) {
	tdset := aTDSet(settled, invalid)
	_, err := stateAt(tdset, noon)

	got := desiredStatus(tdset, observation{invalid: err, deployment: deploymentOf(tdset, withPods(5))}, now)

	if got.ActiveWindow != "" || got.DesiredReplicas != nil || got.NextTransitionTime != nil {
		t.Errorf("the status has values of an invalid schedule: %+v", got)
	}
	want := []string{
		allAvailable, notChanged("InvalidSchedule"),
		`Degraded=True, InvalidSchedule: spec.timeZone: Invalid value: "Atlantis/Poseidonis": unknown time zone: use an IANA name, such as Europe/Berlin or UTC`,
	}
	if diff := cmp.Diff(want, inWords(got.Conditions)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

// A status is written only if it differs from the last one. So if nothing has changed, the new
// status has to equal the old one, including the time of the last transition, which is when True
// became False or the other way round.
func TestDesiredStatusAfterAnEarlierOne(t *testing.T) {
	foreign := metav1.Condition{Type: "Blessed", Status: metav1.ConditionTrue, Reason: "ByThePriest", LastTransitionTime: earlier}
	for name, test := range map[string]struct {
		change    func(*schedulev2.TDSet)
		available int32
		want      map[string]metav1.Time // the transition times
		wantSame  bool                   // the status is unchanged
	}{
		"nothing has changed": {
			available: 5,
			want:      map[string]metav1.Time{"Ready": earlier, "Available": earlier, "Progressing": earlier, "Degraded": earlier},
			wantSame:  true,
		},
		"a Pod is lost: changed conditions have the current time": {
			available: 4,
			want:      map[string]metav1.Time{"Ready": now, "Available": now, "Progressing": now, "Degraded": earlier},
		},
		"only a message has changed": {
			change:    func(tdset *schedulev2.TDSet) { tdset.Status.Conditions[0].Message = "all were there" },
			available: 5,
			want:      map[string]metav1.Time{"Ready": earlier, "Available": earlier, "Progressing": earlier, "Degraded": earlier},
		},
		"somebody else's condition is kept": {
			change:    func(tdset *schedulev2.TDSet) { tdset.Status.Conditions = append(tdset.Status.Conditions, foreign) },
			available: 5,
			want:      map[string]metav1.Time{"Ready": earlier, "Available": earlier, "Progressing": earlier, "Degraded": earlier, "Blessed": earlier},
			wantSame:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tdset := aTDSet(settled)
			if test.change != nil {
				test.change(tdset)
			}
			before := tdset.DeepCopy()

			got := desiredStatus(tdset, seenAt(noon, tdset, deploymentOf(tdset, withPods(test.available))), now)

			since := map[string]metav1.Time{}
			for _, condition := range got.Conditions {
				since[condition.Type] = condition.LastTransitionTime
			}
			if diff := cmp.Diff(test.want, since); diff != "" {
				t.Errorf("transition times (-want +got):\n%s", diff)
			}
			if same := equality.Semantic.DeepEqual(got, before.Status); same != test.wantSame {
				t.Errorf("the status is unchanged: %v, want %v", same, test.wantSame)
			}
			if diff := cmp.Diff(before, tdset); diff != "" {
				t.Errorf("the function changed its argument (-before +after):\n%s", diff)
			}
		})
	}
}

// The current number of Pods is in the metrics. In the status, each change of it would cause a
// write.
func TestTheStatusIgnoresTheNumberOfPods(t *testing.T) {
	tdset := aTDSet(known)
	tdset.Status = desiredStatus(tdset, seenAt(noon, tdset, deploymentOf(tdset, withPods(0))), earlier)
	for pods := range int32(5) {
		got := desiredStatus(tdset, seenAt(noon, tdset, deploymentOf(tdset, withPods(pods))), now)
		if diff := cmp.Diff(tdset.Status, got); diff != "" {
			t.Errorf("with %d Pods (-before +after):\n%s", pods, diff)
		}
	}
}

// inWords describes the conditions, except for Ready, which has its own test, such as
// "Degraded=False, AsExpected: its message".
func inWords(conditions []metav1.Condition) (words []string) {
	for _, c := range conditions {
		if c.Type != conditionReady {
			words = append(words, inWord(c))
		}
	}
	return slices.Clip(words)
}

func inWord(c metav1.Condition) string {
	return fmt.Sprintf("%s=%s, %s: %s", c.Type, c.Status, c.Reason, c.Message)
}
