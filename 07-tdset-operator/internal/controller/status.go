// What a TDSet's status should say: pure too. It says nothing that changes while Pods come and go, such as how many are available:
// each change of a status is a write, and an event for all who watch. The metrics have those numbers.

package controller

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// The conditions, and their reasons.
const (
	conditionAvailable   = "Available"   // every replica that is wanted is there for users
	conditionProgressing = "Progressing" // the Deployment is on its way to what is wanted
	conditionDegraded    = "Degraded"    // something is wrong that won't mend by itself

	reasonAsExpected       = "AsExpected"
	reasonAvailable        = "ReplicasAvailable"
	reasonUnavailable      = "ReplicasUnavailable"
	reasonRolledOut        = "RolledOut"
	reasonRollingOut       = "RollingOut"
	reasonTerminating      = "Terminating"
	reasonNoDeployment     = "NoDeployment"
	reasonInvalidSchedule  = "InvalidSchedule"
	reasonRefused          = "Refused"
	reasonDeadlineExceeded = "ProgressDeadlineExceeded"
	reasonReplicaFailure   = "ReplicaFailure"
	errResourceExists      = "ErrResourceExists"

	messageExists = "%s %q exists and is not controlled by this TDSet: delete it, or give the TDSet another name"
)

// observation is what a status is made from.
type observation struct {
	state      *schedule.State    // what the schedule asks for now; nil if it is invalid
	deployment *appsv1.Deployment // of the TDSet's name, whosever it is; nil if there is none
	service    *corev1.Service    // the same, if the TDSet asks for one
	invalid    error              // why the schedule is
	refused    error              // what the API server said to what we wanted to write, and will say again
}

// want returns how many replicas there should be: by the schedule, or if that is invalid, as many as the Deployment asks for.
func (o observation) want() int32 {
	if o.state != nil {
		return o.state.Replicas
	}
	return replicasOf(o.deployment)
}

// desiredStatus returns what tdset's status should say of what is observed, at the time now. Where it would say what it says already,
// the result equals tdset.Status, times included: then there is nothing to write.
func desiredStatus(tdset *v1.TDSet, seen observation, now metav1.Time) v1.TDSetStatus {
	status := v1.TDSetStatus{ObservedGeneration: tdset.Generation, Conditions: slices.Clone(tdset.Status.Conditions)}
	if seen.state != nil {
		status.ActiveWindow = schedule.Name(&tdset.Spec, seen.state.Window)
		status.DesiredReplicas = &seen.state.Replicas
		if !seen.state.Next.IsZero() {
			status.NextTransitionTime = &metav1.Time{Time: seen.state.Next}
		}
	}
	for _, condition := range []metav1.Condition{available(tdset, seen), progressing(tdset, seen), degraded(tdset, seen)} {
		condition.ObservedGeneration = tdset.Generation
		condition.LastTransitionTime = now // kept as it was, unless the condition's status is another one
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	return status
}

// available says whether all replicas are there for users.
func available(tdset *v1.TDSet, seen observation) metav1.Condition {
	deployment := seen.deployment
	switch {
	case deployment == nil:
		return condition(conditionAvailable, false, reasonNoDeployment, "There is no Deployment")
	case !metav1.IsControlledBy(deployment, tdset):
		return condition(conditionAvailable, false, errResourceExists, messageExists, "Deployment", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		return condition(conditionAvailable, false, reasonTerminating, "Deployment %q is being deleted and will be made again", deployment.Name)
	case deployment.Status.AvailableReplicas < seen.want():
		return condition(conditionAvailable, false, reasonUnavailable, "Of %d replicas, some aren't available", seen.want())
	}
	return condition(conditionAvailable, true, reasonAvailable, "%d replicas are available", seen.want())
}

// progressing says whether the Deployment is on its way.
func progressing(tdset *v1.TDSet, seen observation) metav1.Condition {
	deployment := seen.deployment
	switch {
	case deployment == nil:
		return condition(conditionProgressing, false, reasonNoDeployment, "There is no Deployment")
	case !metav1.IsControlledBy(deployment, tdset):
		return condition(conditionProgressing, false, errResourceExists, messageExists, "Deployment", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		return condition(conditionProgressing, true, reasonTerminating, "Deployment %q is being deleted and will be made again", deployment.Name)
	case seen.refused != nil:
		return condition(conditionProgressing, false, reasonRefused, "Deployment %q isn't changed: see Degraded", deployment.Name)
	case seen.invalid != nil:
		return condition(conditionProgressing, false, reasonInvalidSchedule, "Deployment %q isn't changed: see Degraded", deployment.Name)
	case rolledOut(deployment) && replicasOf(deployment) == seen.want():
		return condition(conditionProgressing, false, reasonRolledOut, "Deployment %q is as the schedule wants it", deployment.Name)
	case stuck(deployment):
		return condition(conditionProgressing, false, reasonDeadlineExceeded, "Deployment %q makes no progress", deployment.Name)
	}
	return condition(conditionProgressing, true, reasonRollingOut, "Deployment %q is on its way to %d replicas", deployment.Name, seen.want())
}

// degraded says whether something needs a human.
func degraded(tdset *v1.TDSet, seen observation) metav1.Condition {
	deployment, service := seen.deployment, seen.service
	switch {
	case seen.invalid != nil:
		return condition(conditionDegraded, true, reasonInvalidSchedule, "%v", seen.invalid)
	case deployment != nil && !metav1.IsControlledBy(deployment, tdset):
		return condition(conditionDegraded, true, errResourceExists, messageExists, "Deployment", deployment.Name)
	case service != nil && !metav1.IsControlledBy(service, tdset):
		return condition(conditionDegraded, true, errResourceExists, messageExists, "Service", service.Name)
	case seen.refused != nil:
		return condition(conditionDegraded, true, reasonRefused, "%v", seen.refused)
	case deployment != nil && failing(deployment):
		return condition(conditionDegraded, true, reasonReplicaFailure, "Deployment %q can't make its Pods: its conditions say why", deployment.Name)
	case deployment != nil && stuck(deployment):
		return condition(conditionDegraded, true, reasonDeadlineExceeded, "Deployment %q makes no progress: look at its Pods", deployment.Name)
	}
	return condition(conditionDegraded, false, reasonAsExpected, "")
}

func condition(kind string, is bool, reason, format string, args ...any) metav1.Condition {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: shorten(fmt.Sprintf(format, args...))}
}

// longestMessage is what an event may say at most, in bytes (events.k8s.io/v1, note). A condition may say more.
const longestMessage = 1024

// shorten cuts a message down to that: what the API server says in a refusal may be of any length.
func shorten(message string) string {
	if len(message) <= longestMessage {
		return message
	}
	return strings.ToValidUTF8(message[:longestMessage-len("…")], "") + "…"
}

// rolledOut tells whether the Deployment controller has seen the latest spec and all that it asks for is there.
func rolledOut(deployment *appsv1.Deployment) bool {
	want, status := replicasOf(deployment), deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want
}

// failing tells whether Pods can't be made: for want of quota, say.
func failing(deployment *appsv1.Deployment) bool {
	return slices.ContainsFunc(deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue
	})
}

// stuck tells whether the Deployment controller has given up waiting for a rollout: an image that can't be pulled, say.
func stuck(deployment *appsv1.Deployment) bool {
	return slices.ContainsFunc(deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}
