// Helpers that read a test's cluster.

package controller

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// tdset returns the TDSet, or an empty one.
func (c *cluster) tdset() *schedulev2.TDSet {
	var found schedulev2.TDSet
	if err := c.server.Get(c.t.Context(), web, &found); err != nil {
		return &schedulev2.TDSet{}
	}
	return &found
}

// deployment returns the Deployment with the TDSet's name, or nil.
func (c *cluster) deployment() *appsv1.Deployment {
	var found appsv1.Deployment
	if err := c.server.Get(c.t.Context(), web, &found); err != nil {
		return nil
	}
	return &found
}

// service returns the Service with the TDSet's name, or nil.
func (c *cluster) service() *corev1.Service {
	var found corev1.Service
	if err := c.server.Get(c.t.Context(), web, &found); err != nil {
		return nil
	}
	return &found
}

// objects describes the objects with the TDSet's name, such as "5 × nginx:1.0, 80 → 8080".
func (c *cluster) objects() string {
	var found []string
	if d := c.deployment(); d != nil {
		found = append(found, fmt.Sprintf("%d × %s", replicasOf(d), d.Spec.Template.Spec.Containers[0].Image))
	}
	if s := c.service(); s != nil {
		for _, port := range s.Spec.Ports {
			found = append(found, fmt.Sprintf("%d → %s", port.Port, port.TargetPort.String()))
		}
	}
	return strings.Join(found, ", ")
}

// status returns the active window in the TDSet's status, and the reasons of its conditions: "9-17:
// ReplicasAvailable, RolledOut, AsExpected". It is empty if there are no conditions.
func (c *cluster) status() string {
	status := c.tdset().Status
	var reasons []string
	for _, name := range []string{conditionAvailable, conditionProgressing, conditionDegraded} {
		if condition := meta.FindStatusCondition(status.Conditions, name); condition != nil {
			reasons = append(reasons, condition.Reason)
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	return status.ActiveWindow + ": " + strings.Join(reasons, ", ")
}

// degraded returns the reason of the TDSet's condition Degraded.
func (c *cluster) degraded() string {
	reasons := strings.Split(c.status(), ", ")
	return reasons[len(reasons)-1]
}

// recorded returns the events that the controller has recorded since the last call.
func (c *cluster) recorded() []string {
	var events []string
	for len(c.events) > 0 {
		events = append(events, <-c.events)
	}
	return events
}
