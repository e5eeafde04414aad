// How a TDSet's status is applied. controller-gen makes apply configurations of types in a package that others can import; this one is
// a program. Here a single one is needed, and it needs little.

package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// tdsetApplyConfiguration is what the controller applies of a TDSet: its status, and the metadata that say to which TDSet.
type tdsetApplyConfiguration struct {
	*metav1ac.TypeMetaApplyConfiguration   `json:",inline"`
	*metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`

	Status TDSetStatus `json:"status"`
}

// IsApplyConfiguration says that it is one.
func (*tdsetApplyConfiguration) IsApplyConfiguration() {}

// statusToApply returns status as an apply configuration that assumes tdset's resourceVersion. Of the conditions it has our own
// alone: those of others are kept, and would be ours if we sent them.
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
