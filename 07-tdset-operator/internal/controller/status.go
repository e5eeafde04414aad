// What a TDSet's status says, and when it is written. It says nothing that changes while Pods come
// and go, such as how many are available: each change of a status is a write, and an event for
// everybody who watches. The metrics have those numbers.

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// observation is what a status is made from.
type observation struct {
	state      *schedule.State    // what the schedule asks for now; nil if it is invalid
	deployment *appsv1.Deployment // the Deployment of the TDSet's name, even if it is someone else's
	service    *corev1.Service    // the same, if the TDSet asks for a Service
	invalid    error              // why the schedule is invalid
	refused    error              // how the API server has refused our writes
	failed     error              // why other requests have failed

	errDeployment error // the part of them that is about the Deployment
}

// unknown reports whether nobody knows about the Deployment, because the request to read or create
// it has failed.
func (o observation) unknown() bool {
	return o.deployment == nil && o.errDeployment != nil && !isRefusal(o.errDeployment)
}

// want returns how many replicas there should be. If the schedule is invalid, that is as many as
// the Deployment asks for.
func (o observation) want() int32 {
	if o.state != nil {
		return o.state.Replicas
	}
	return replicasOf(o.deployment)
}

// syncStatus writes tdset's status, but only if it has changed.
func (r *TDSetReconciler) syncStatus(ctx context.Context, tdset *schedulev2.TDSet, seen observation, now time.Time) error {
	status := desiredStatus(tdset, seen, metav1.NewTime(now))
	isDegraded := meta.IsStatusConditionTrue(status.Conditions, conditionDegraded)
	degraded.WithLabelValues(tdset.Namespace, tdset.Name).Set(gaugeValue[isDegraded])
	if equality.Semantic.DeepEqual(tdset.Status, status) {
		return nil
	}
	if err := r.updateStatus(ctx, tdset, status); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	measureTransition(tdset, seen, r.Clock.Now())
	r.recordEvent(tdset, status)
	return nil
}

// desiredStatus returns what tdset's status should say about what was observed. If nothing has
// changed, the result equals tdset.Status, including the times.
func desiredStatus(tdset *schedulev2.TDSet, seen observation, now metav1.Time) schedulev2.TDSetStatus {
	status := schedulev2.TDSetStatus{
		ObservedGeneration: tdset.Generation,
		Conditions:         slices.Clone(tdset.Status.Conditions),
	}
	if seen.state != nil {
		status.ActiveWindow = schedule.Name(&tdset.Spec, seen.state.Window)
		status.DesiredReplicas = &seen.state.Replicas
		if !seen.state.Next.IsZero() {
			status.NextTransitionTime = &metav1.Time{Time: seen.state.Next}
		}
	}
	for _, condition := range conditions(tdset, seen) {
		condition.ObservedGeneration = tdset.Generation
		condition.LastTransitionTime = now // kept as it was, unless the condition's status changes
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	return status
}

// recordEvent tells tdset's users what is new in its status. The status was written under the
// assumption that tdset is the latest version, so nobody else has told them.
func (r *TDSetReconciler) recordEvent(tdset *schedulev2.TDSet, status schedulev2.TDSetStatus) {
	before := meta.FindStatusCondition(tdset.Status.Conditions, conditionDegraded)
	now := meta.FindStatusCondition(status.Conditions, conditionDegraded)
	wasDegraded := before != nil && before.Status == metav1.ConditionTrue
	scaled := tdset.Status.ActiveWindow != status.ActiveWindow || !ptr.Equal(tdset.Status.DesiredReplicas, status.DesiredReplicas)
	switch {
	case now.Status == metav1.ConditionTrue:
		if !wasDegraded || before.Reason != now.Reason {
			r.Recorder.Eventf(tdset, nil, corev1.EventTypeWarning, now.Reason, "Sync", "%s", now.Message)
		}
	case scaled:
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeNormal, "Scaled", "Scale",
			"Window %s: %d replicas", status.ActiveWindow, *status.DesiredReplicas)
	case wasDegraded:
		r.Recorder.Eventf(tdset, nil, corev1.EventTypeNormal, "Recovered", "Sync", "No longer degraded: %s is over", before.Reason)
	}
}
