// The conditions of a TDSet: pure functions of what was observed.

package controller

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// The types of conditions, and their reasons.
const (
	conditionReady       = "Ready"       // all is as the schedule asks: for kubectl wait
	conditionAvailable   = "Available"   // all replicas are there; a Deployment's own is less strict
	conditionProgressing = "Progressing" // the Deployment is being rolled out or scaled
	conditionDegraded    = "Degraded"    // somebody has to do something about it

	reasonAsScheduled      = "AsScheduled"
	reasonAsExpected       = "AsExpected"
	reasonAvailable        = "ReplicasAvailable"
	reasonUnavailable      = "ReplicasUnavailable"
	reasonRolledOut        = "RolledOut"
	reasonRollingOut       = "RollingOut"
	reasonTerminating      = "Terminating"
	reasonNoDeployment     = "NoDeployment"
	reasonInvalidSchedule  = "InvalidSchedule"
	reasonRefused          = "Refused" // by the API server
	reasonFailed           = "Failed"  // for another reason
	reasonDeadlineExceeded = "ProgressDeadlineExceeded"
	reasonReplicaFailure   = "ReplicaFailure"
	reasonResourceExists   = "ErrResourceExists"

	messageExists     = "%s %q exists and is not controlled by this TDSet: delete it, or give the TDSet another name"
	messageNotChanged = "Deployment %q isn't changed: see Degraded"
	messageFailed     = "The last attempt failed: the operator's log says why"
)

// conditions returns all conditions.
func conditions(tdset *schedulev2.TDSet, seen observation) []metav1.Condition {
	available, progressing, degraded := availability(tdset, seen), progress(tdset, seen), degradation(tdset, seen)
	if seen.unknown() {
		available.Status = metav1.ConditionUnknown // its Pods may be serving users all the same
	}
	return []metav1.Condition{readiness(available, progressing, degraded), available, progressing, degraded}
}

// readiness sums up the others: Available should be True, and Degraded and Progressing should be
// False. The first one that isn't so gives the reason.
func readiness(available, progressing, degraded metav1.Condition) metav1.Condition {
	for _, c := range []metav1.Condition{degraded, available, progressing} {
		if asItShouldBe := (c.Status == metav1.ConditionTrue) == (c.Type == conditionAvailable); !asItShouldBe {
			return condition(conditionReady, false, c.Reason, "%s", c.Message)
		}
	}
	return condition(conditionReady, true, reasonAsScheduled, "%s", available.Message)
}

// availability reports whether all replicas are available.
func availability(tdset *schedulev2.TDSet, seen observation) metav1.Condition {
	if reason, message := missing(tdset, seen); reason != "" {
		return condition(conditionAvailable, false, reason, "%s", message)
	}
	if seen.deployment.Status.AvailableReplicas < seen.want() {
		return condition(conditionAvailable, false, reasonUnavailable, "Some of the %d replicas aren't available", seen.want())
	}
	return condition(conditionAvailable, true, reasonAvailable, "%d replicas are available", seen.want())
}

// progress reports whether the Deployment is being rolled out or scaled.
func progress(tdset *schedulev2.TDSet, seen observation) metav1.Condition {
	deployment := seen.deployment
	if reason, message := missing(tdset, seen); reason != "" {
		return condition(conditionProgressing, reason == reasonTerminating, reason, "%s", message)
	}
	switch {
	case isRefusal(seen.errDeployment):
		return condition(conditionProgressing, false, reasonRefused, messageNotChanged, deployment.Name)
	case seen.errDeployment != nil:
		return condition(conditionProgressing, false, reasonFailed, messageFailed)
	case seen.invalid != nil:
		return condition(conditionProgressing, false, reasonInvalidSchedule, messageNotChanged, deployment.Name)
	case rolledOut(deployment) && replicasOf(deployment) == seen.want():
		return condition(conditionProgressing, false, reasonRolledOut, "Deployment %q is rolled out", deployment.Name)
	case stuck(deployment):
		return condition(conditionProgressing, false, reasonDeadlineExceeded, "Deployment %q makes no progress", deployment.Name)
	}
	return condition(conditionProgressing, true, reasonRollingOut, "Deployment %q is on its way to %d replicas", deployment.Name, seen.want())
}

// missing returns why tdset, as far as we know, has no Deployment of its own, or nothing if it does.
func missing(tdset *schedulev2.TDSet, seen observation) (reason, message string) {
	switch deployment := seen.deployment; {
	case seen.unknown():
		return reasonFailed, messageFailed
	case deployment == nil:
		return reasonNoDeployment, "There is no Deployment"
	case !metav1.IsControlledBy(deployment, tdset):
		return reasonResourceExists, fmt.Sprintf(messageExists, "Deployment", deployment.Name)
	case !deployment.DeletionTimestamp.IsZero():
		return reasonTerminating, fmt.Sprintf("Deployment %q is being deleted and will be created again", deployment.Name)
	}
	return "", ""
}

// degradation reports whether somebody has to do something. If there are several reasons, it names
// the one that has to be dealt with first.
func degradation(tdset *schedulev2.TDSet, seen observation) metav1.Condition {
	deployment, service := seen.deployment, seen.service
	switch {
	case seen.invalid != nil:
		return condition(conditionDegraded, true, reasonInvalidSchedule, "%v", seen.invalid)
	case deployment != nil && !metav1.IsControlledBy(deployment, tdset):
		return condition(conditionDegraded, true, reasonResourceExists, messageExists, "Deployment", deployment.Name)
	case service != nil && !metav1.IsControlledBy(service, tdset):
		return condition(conditionDegraded, true, reasonResourceExists, messageExists, "Service", service.Name)
	case seen.refused != nil:
		return condition(conditionDegraded, true, reasonRefused, "%v", seen.refused)
	case seen.failed != nil:
		return condition(conditionDegraded, true, reasonFailed, messageFailed)
	case deployment != nil && hasCondition(deployment, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue): // a quota, for example
		return condition(conditionDegraded, true, reasonReplicaFailure, "Deployment %q can't create its Pods: its conditions say why", deployment.Name)
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

// rolledOut reports whether the Deployment controller has seen the latest spec, and the Deployment
// has all that it asks for.
func rolledOut(deployment *appsv1.Deployment) bool {
	want, status := replicasOf(deployment), deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.Replicas == want && status.UpdatedReplicas == want && status.AvailableReplicas == want
}

// stuck reports whether a rollout takes longer than progressDeadlineSeconds, for example because
// an image can't be pulled.
func stuck(deployment *appsv1.Deployment) bool {
	return hasCondition(deployment, appsv1.DeploymentProgressing, corev1.ConditionFalse)
}

// hasCondition reports whether a Deployment has a condition with that status.
func hasCondition(deployment *appsv1.Deployment, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus) bool {
	return slices.ContainsFunc(deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == kind && c.Status == status
	})
}
