// Events, which `kubectl describe` shows for a Foo. Programs should read the status instead.

package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// recordEvent records an Event if status has a new reason. The status write would have failed for
// an old foo, so no other replica has recorded this Event.
func (c *controller) recordEvent(foo *samplecontrollerv1alpha1.Foo, status samplecontrollerv1alpha1.FooStatus) {
	before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady)
	now := meta.FindStatusCondition(status.Conditions, conditionReady)
	switch {
	case before != nil && before.Reason == now.Reason: // nothing new
	case now.Reason == reasonAvailable:
		c.recorder.Event(foo, corev1.EventTypeNormal, "Synced", now.Message)
	case now.Reason == reasonResourceExists, now.Reason == reasonRefused:
		c.recorder.Event(foo, corev1.EventTypeWarning, now.Reason, now.Message)
	}
}
