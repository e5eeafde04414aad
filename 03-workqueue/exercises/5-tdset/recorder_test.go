//go:build check || solution

// Which changes of the status are worth an Event. This doesn't test your work, because recorder.go
// is given.

package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
)

func TestRecordEvent(t *testing.T) {
	for sentence, test := range map[string]struct {
		before, now string // the reasons of the condition Ready
		want        string // "": no Event
	}{
		"the first replicas are available":    {"", reasonAsScheduled, "Normal Synced a message"},
		"replicas are available again":        {reasonProgressing, reasonAsScheduled, "Normal Synced a message"},
		"another message for the same reason": {reasonAsScheduled, reasonAsScheduled, ""},
		"the name is taken":                   {"", reasonResourceExists, "Warning ErrResourceExists a message"},
		"a write is refused":                  {reasonAsScheduled, reasonRefused, "Warning Refused a message"},
		"a write is refused again":            {reasonRefused, reasonRefused, ""},
		"a rollout begins":                    {reasonAsScheduled, reasonProgressing, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			recorder := record.NewFakeRecorder(1)
			tdset := &TDSet{}
			if test.before != "" {
				meta.SetStatusCondition(&tdset.Status.Conditions, metav1.Condition{Type: conditionReady, Reason: test.before})
			}
			var status TDSetStatus
			meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: conditionReady, Reason: test.now, Message: "a message"})

			(&controller{recorder: recorder}).recordEvent(tdset, status)

			got := ""
			select {
			case got = <-recorder.Events:
			default:
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
