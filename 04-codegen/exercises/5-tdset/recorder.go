// Events, which `kubectl describe` shows for a TDSet. Programs should read the status instead.

package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// recordEvent records an Event if status has a new reason. The status write would have failed for
// an old tdset, so no other replica has recorded this Event.
func (c *controller) recordEvent(tdset *TDSet, status TDSetStatus) {
	before := meta.FindStatusCondition(tdset.Status.Conditions, conditionReady)
	now := meta.FindStatusCondition(status.Conditions, conditionReady)
	switch {
	case before != nil && before.Reason == now.Reason: // nothing new
	case now.Reason == reasonAsScheduled:
		c.recorder.Event(tdset, corev1.EventTypeNormal, "Synced", now.Message)
	case now.Reason == reasonResourceExists, now.Reason == reasonRefused:
		c.recorder.Event(tdset, corev1.EventTypeWarning, now.Reason, now.Message)
	}
}
