//go:build !solution

// Command 5-tdset is a controller for TDSets: Deployments that are scaled by the time of day. This
// file is their API: the types, with the markers from which controller-gen makes the CRD, and the
// validator, for rules that a CRD can't express.
package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// YOUR WORK: add markers, from here to TDSetStatus, until the API server keeps the promises in the
// comments. Don't change fields, Go types or tags.

// +kubebuilder:object:root=true

// TDSet asks for a Deployment of its own name that is scaled by the time of day. Its name has at
// most 63 characters, because it becomes the value of the label "app". The error for a longer one
// says "63" and names metadata.name.
//
// Its short name is tds. Besides its name, `kubectl get` shows three columns: Ready and Message
// have the status and the message of the condition Ready, and Age has its age. Its status is a
// subresource.
type TDSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec TDSetSpec `json:"spec"`
	// Status is the observed state.
	Status TDSetStatus `json:"status,omitempty"`
}

// TDSetSpec is the desired state of a TDSet.
type TDSetSpec struct {
	// Container is what every Pod runs.
	Container Container `json:"container"`
	// Service asks for a Service. Nothing uses it before chapter 07.
	Service *Service `json:"service,omitempty"`
	// SchedulingConfig are the windows of the day, at most 24, no two of them with the same hours.
	// (19 to 0 and 19 to 24 are the same hours.) The error names startTime and endTime. Where
	// windows overlap, the first one counts.
	SchedulingConfig []Scheduling `json:"schedulingConfig"`
	// DefaultReplica is the number of replicas outside of all windows, 1 to 1000. The default is 1.
	DefaultReplica int32 `json:"defaultReplica"`
	// IntervalMint is the most minutes that may pass before the controller checks the TDSet again,
	// even if nothing has changed, 1 to 1440. Without it, there is no limit.
	IntervalMint int32 `json:"intervalMint,omitempty"`
}

// Container is what every Pod runs.
type Container struct {
	// Image has 1 to 512 characters.
	Image string `json:"image"`
	// Port is the port that the container listens on, 1 to 65535.
	Port int32 `json:"port"`
}

// Service is how the Pods are reached.
type Service struct {
	// Port is the port of the Service, 1 to 65535.
	Port int32 `json:"port"`
}

// Scheduling is a window of the day, in hours of UTC, and the number of replicas in it. It begins
// at StartTime and ends at EndTime. If EndTime isn't after StartTime, the window ends on the next
// day. StartTime and EndTime must differ. The error for equal ones names startTime and endTime, and
// says that the whole day is 0 to 24.
type Scheduling struct {
	// StartTime is the hour at which the window begins, 0 to 23.
	StartTime int `json:"startTime"`
	// EndTime is the hour at which the window ends, 0 to 24. 0 and 24 both mean midnight.
	EndTime int `json:"endTime"`
	// Replica is the number of replicas in this window, 0 to 1000.
	Replica int32 `json:"replica"`
}

// TDSetStatus is the observed state of a TDSet.
type TDSetStatus struct {
	// ObservedGeneration is the metadata.generation of the TDSet that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions has one entry, of the type Ready. The list is a map, so each entry has its own
	// owners.
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

// judge finds the problems of a spec that the schema has accepted: errors, for which it must be
// refused, and warnings, about something that is legal but unwise. An hour belongs to the first
// window that includes it, as windowAt says.
//   - If no hour belongs to a window, it is never active. That is an error of the type Invalid, for
//     that window.
//   - If some of a window's hours belong to earlier windows, they have no effect in this one. That
//     is one warning for each such earlier window.
//   - If some hours are in no window, that is one warning, for the whole list. It names
//     defaultReplica.
//
// Like an error, a warning begins with the path of its field, such as "spec.schedulingConfig[1]: ".
// It names other windows by their paths, too, and hours as inWords does.
func judge(spec TDSetSpec) (admission.Warnings, field.ErrorList) {
	// YOUR WORK: this finds no problem in any spec.
	return nil, nil
}

// tdsetValidator is the validating webhook for TDSets.
type tdsetValidator struct{}

var _ admission.Validator[*TDSet] = tdsetValidator{}

// ValidateCreate validates a new TDSet.
func (tdsetValidator) ValidateCreate(_ context.Context, tdset *TDSet) (admission.Warnings, error) {
	// YOUR WORK: report what judge finds to the user.
	return nil, nil
}

// ValidateUpdate only validates a schedule that has changed. Even if the stored one is wrong, users
// must be able to change the labels, the finalizers and the image.
func (v tdsetValidator) ValidateUpdate(ctx context.Context, old, tdset *TDSet) (admission.Warnings, error) {
	// YOUR WORK
	return nil, nil
}

// ValidateDelete refuses nothing. The API server wouldn't even call it, because the webhook is for
// creates and updates.
func (tdsetValidator) ValidateDelete(context.Context, *TDSet) (admission.Warnings, error) {
	return nil, nil
}
