// The apply configuration of a TDSet's status. controller-gen generates these only for packages
// that others can import, and this one is a program. A single small one is enough here.

package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// tdsetApplyConfiguration is the part of a TDSet that the controller applies: its status, and the
// metadata that identify it.
type tdsetApplyConfiguration struct {
	*metav1ac.TypeMetaApplyConfiguration   `json:",inline"`
	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`

	Status TDSetStatus `json:"status"`
}

// IsApplyConfiguration marks the type as an apply configuration.
func (*tdsetApplyConfiguration) IsApplyConfiguration() {}

// statusToApply returns status as an apply configuration that assumes tdset's resourceVersion. It
// has only our own condition. If we sent the others, we would own them.
func statusToApply(tdset *TDSet, status TDSetStatus) *tdsetApplyConfiguration {
	ready := meta.FindStatusCondition(status.Conditions, conditionReady)
	return &tdsetApplyConfiguration{
		metav1ac.TypeMeta().WithAPIVersion(groupVersion.String()).WithKind("TDSet"),
		metav1ac.ObjectMeta().
			WithName(tdset.Name).
			WithNamespace(tdset.Namespace).
			WithUID(tdset.UID).
			WithResourceVersion(tdset.ResourceVersion),
		TDSetStatus{ObservedGeneration: status.ObservedGeneration, Conditions: []metav1.Condition{*ready}},
	}
}
