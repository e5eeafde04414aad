// Events, which `kubectl describe` shows for a Foo. Users read them. Programs should read the
// status.

package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// newRecorder returns a recorder, and a function that stops it. That function doesn't wait for the
// last Events, because they are only a courtesy.
func newRecorder(ctx context.Context, kube kubernetes.Interface) (record.EventRecorder, func(), error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, nil, err
	}
	// It outlives ctx, because work that finishes during the shutdown records Events too.
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme, corev1.EventSource{Component: "foo-controller"}), broadcaster.Shutdown, nil
}

// recordEvent records an Event if status has a new reason. The status was just written to the
// latest version of foo, so no one else has recorded the same Event.
func (c *controller) recordEvent(foo *v1alpha1.Foo, status v1alpha1.FooStatus) {
	before := meta.FindStatusCondition(foo.Status.Conditions, conditionReady)
	now := meta.FindStatusCondition(status.Conditions, conditionReady)
	if before != nil && before.Reason == now.Reason {
		return
	}
	switch now.Reason {
	case reasonAvailable:
		c.recorder.Event(foo, corev1.EventTypeNormal, "Synced", now.Message)
	case errResourceExists:
		c.recorder.Event(foo, corev1.EventTypeWarning, errResourceExists, now.Message)
	}
}
