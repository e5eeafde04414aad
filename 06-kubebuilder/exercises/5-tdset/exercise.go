//go:build !solution

// Command 5-tdset is a controller for TDSets on controller-runtime: Deployments that are scaled by the time of day. This file is what
// their API is made from: the types, with the markers that make the CRD, and the validator, for what the CRD leaves to it.
package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// YOUR WORK: markers, from here to TDSetStatus. What the comments promise the API server shall see to. Fields, Go types and tags stay as
// they are.

// +kubebuilder:object:root=true

// TDSet asks for one Deployment, of its own name, that is scaled by the time of day. Its name has at most 63 characters, since it becomes
// the value of the label "app": a refusal says so, and names metadata.name.
//
// It has the short name tds. `kubectl get` shows, beside its name, status and message of the condition Ready, and its age: columns
// Ready, Message and Age. Its status has an endpoint of its own.
type TDSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants.
	Spec TDSetSpec `json:"spec"`
	// Status is what the controller saw.
	Status TDSetStatus `json:"status,omitempty"`
}

// TDSetSpec is the desired state of a TDSet.
type TDSetSpec struct {
	// Container is what every Pod runs.
	Container Container `json:"container"`
	// Service is how the Pods are reached. Nothing is made of it here: chapter 07 does that.
	Service *Service `json:"service,omitempty"`
	// SchedulingConfig are the windows of the day, at most 24, no two of them with the same hours: of 19 to 0 and 19 to 24, delete one.
	// A refusal names startTime and endTime. Where windows overlap, the first one counts.
	SchedulingConfig []Scheduling `json:"schedulingConfig"`
	// DefaultReplica is the number of replicas outside of all windows, 1 to 1000. The API server sets 1 where it is missing.
	DefaultReplica int32 `json:"defaultReplica"`
	// IntervalMint is a number of minutes, 1 to 1440: that often the controller looks again, whatever the schedule says. Where it
	// is missing, the controller looks only when there is a reason to.
	IntervalMint int32 `json:"intervalMint,omitempty"`
}

// Container is what every Pod runs.
type Container struct {
	// Image has 1 to 512 characters.
	Image string `json:"image"`
	// Port is where it listens, 1 to 65535.
	Port int32 `json:"port"`
}

// Service is how the Pods are reached.
type Service struct {
	// Port is where the Service listens, 1 to 65535.
	Port int32 `json:"port"`
}

// Scheduling is a window of the day, in hours of UTC, and the number of replicas in it. One whose end isn't after its start goes on
// past midnight. Its start and its end differ: a refusal names startTime and endTime, and says that the whole day is 0 to 24.
type Scheduling struct {
	// StartTime is the hour with which the window begins, 0 to 23.
	StartTime int `json:"startTime"`
	// EndTime is the hour before which it ends, 0 to 24. 0 and 24 both mean midnight.
	EndTime int `json:"endTime"`
	// Replica is the number of replicas in this window, 0 to 1000.
	Replica int32 `json:"replica"`
}

// TDSetStatus is the observed state of a TDSet.
type TDSetStatus struct {
	// ObservedGeneration is the metadata.generation of the TDSet that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions has one entry, of the type Ready. It is a map: each entry has owners of its own.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true

// TDSetList is the API server's response to a list of TDSets.
type TDSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TDSet `json:"items"`
}

// judge says of a spec that the schema lets pass what refuses it all the same, and what is legal but unwise. Whom each hour belongs to,
// windowAt knows: to the first window that has it.
//   - A window to which no hour belongs is never active: an error, of the type Invalid, for that window.
//   - A window that has some of its hours in vain: a warning for each window that they belong to.
//   - Hours that are in no window: one warning, for the whole list, that names defaultReplica.
//
// A warning begins as an error would, with the path of its field, such as "spec.schedulingConfig[1]: "; it names another window in
// the same way, and hours as inWords does.
func judge(spec TDSetSpec) (admission.Warnings, field.ErrorList) {
	// YOUR WORK: all is well.
	return nil, nil
}

// tdsetValidator is what a validating webhook for TDSets asks.
type tdsetValidator struct{}

var _ admission.Validator[*TDSet] = tdsetValidator{}

// ValidateCreate judges a new TDSet.
func (tdsetValidator) ValidateCreate(_ context.Context, tdset *TDSet) (admission.Warnings, error) {
	// YOUR WORK: what judge says has to reach the user.
	return nil, nil
}

// ValidateUpdate judges a schedule that has changed, and nothing else: whatever is wrong with one that was stored once, the TDSet's
// labels, finalizers and image must stay free to change.
func (v tdsetValidator) ValidateUpdate(ctx context.Context, old, tdset *TDSet) (admission.Warnings, error) {
	// YOUR WORK
	return nil, nil
}

// ValidateDelete refuses nothing. The API server isn't told to ask about deletions at all.
func (tdsetValidator) ValidateDelete(context.Context, *TDSet) (admission.Warnings, error) {
	return nil, nil
}
