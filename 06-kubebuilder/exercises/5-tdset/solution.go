//go:build solution

// Command 5-tdset is a controller for TDSets: Deployments that are scaled by the time of day. This
// file is their API: the types, with the markers from which controller-gen makes the CRD, and the
// validator, for rules that a CRD can't express.
package main

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=tds
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name: at most 63 characters, since it becomes the value of the label \"app\""
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Message,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp

// TDSet asks for a Deployment of its own name that is scaled by the time of day.
type TDSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +required
	Spec TDSetSpec `json:"spec"`
	// Status is the observed state.
	// +optional
	Status TDSetStatus `json:"status,omitempty"`
}

// TDSetSpec is the desired state of a TDSet.
type TDSetSpec struct {
	// Container is what every Pod runs.
	// +required
	Container Container `json:"container"`
	// Service asks for a Service. Nothing uses it before chapter 07.
	// +optional
	Service *Service `json:"service,omitempty"`
	// SchedulingConfig are the windows of the day, at most 24, no two of them with the same hours.
	// Where they overlap, the first one counts.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.startTime == b.startTime && a.endTime % 24 == b.endTime % 24))",message="two windows have the same startTime and endTime (0 and 24 are the same end): delete one of them"
	SchedulingConfig []Scheduling `json:"schedulingConfig"`
	// DefaultReplica is the number of replicas outside of all windows, 1 to 1000. The default is 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	DefaultReplica int32 `json:"defaultReplica"`
	// IntervalMint is the most minutes that may pass before the controller checks the TDSet again,
	// even if nothing has changed, 1 to 1440. Without it, there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1440
	IntervalMint int32 `json:"intervalMint,omitempty"`
}

// Container is what every Pod runs.
type Container struct {
	// Image has 1 to 512 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
	// Port is the port that the container listens on, 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// Service is how the Pods are reached.
type Service struct {
	// Port is the port of the Service, 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// +kubebuilder:validation:XValidation:rule="self.startTime != self.endTime",message="startTime and endTime must differ: for the whole day, use 0 and 24"

// Scheduling is a window of the day, in hours of UTC, and the number of replicas in it. It begins
// at StartTime and ends at EndTime. If EndTime isn't after StartTime, the window ends on the next
// day. They must differ: the whole day is 0 to 24.
type Scheduling struct {
	// StartTime is the hour at which the window begins, 0 to 23.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=23
	StartTime int `json:"startTime"`
	// EndTime is the hour at which the window ends, 0 to 24. 0 and 24 both mean midnight.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=24
	EndTime int `json:"endTime"`
	// Replica is the number of replicas in this window, 0 to 1000.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
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
//   - If some hours are in no window, that is one warning, for the whole list.
//
// Like an error, a warning begins with the path of its field, such as "spec.schedulingConfig[1]: ".
// It names other windows by their paths, too, and hours as inWords does.
func judge(spec TDSetSpec) (admission.Warnings, field.ErrorList) {
	var warnings admission.Warnings
	var refused field.ErrorList
	path := field.NewPath("spec", "schedulingConfig")

	belong := map[int][]int{} // the hours of each window, and of noWindow
	for hour := range 24 {
		window := windowAt(spec.SchedulingConfig, hour)
		belong[window] = append(belong[window], hour)
	}
	for i, window := range spec.SchedulingConfig {
		if len(belong[i]) == 0 {
			refused = append(refused, field.Invalid(path.Index(i), fmt.Sprintf("%d to %d", window.StartTime, window.EndTime),
				"is never active, since all its hours are in windows before it: put it before those, or delete it"))
			continue
		}
		for earlier := range i {
			ineffective := slices.DeleteFunc(slices.Clone(belong[earlier]), func(hour int) bool {
				return windowAt([]Scheduling{window}, hour) == noWindow
			})
			if len(ineffective) > 0 {
				warnings = append(warnings, fmt.Sprintf("%s: in the hours %s it isn't active: %s has them too, and comes first",
					path.Index(i), inWords(ineffective), path.Index(earlier)))
			}
		}
	}
	if hours := belong[noWindow]; len(hours) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: the hours %s are in no window, and get defaultReplica, which is %d",
			path, inWords(hours), spec.DefaultReplica))
	}
	return warnings, refused
}

// tdsetValidator is the validating webhook for TDSets.
type tdsetValidator struct{}

var _ admission.Validator[*TDSet] = tdsetValidator{}

// ValidateCreate validates a new TDSet.
func (tdsetValidator) ValidateCreate(_ context.Context, tdset *TDSet) (admission.Warnings, error) {
	warnings, refused := judge(tdset.Spec)
	if len(refused) > 0 {
		return warnings, apierrors.NewInvalid(groupVersion.WithKind("TDSet").GroupKind(), tdset.Name, refused)
	}
	return warnings, nil
}

// ValidateUpdate only validates a schedule that has changed. Even if the stored one is wrong, users
// must be able to change the labels, the finalizers and the image.
func (v tdsetValidator) ValidateUpdate(ctx context.Context, old, tdset *TDSet) (admission.Warnings, error) {
	if slices.Equal(old.Spec.SchedulingConfig, tdset.Spec.SchedulingConfig) {
		return nil, nil
	}
	return v.ValidateCreate(ctx, tdset)
}

// ValidateDelete refuses nothing. The API server wouldn't even call it, because the webhook is for
// creates and updates.
func (tdsetValidator) ValidateDelete(context.Context, *TDSet) (admission.Warnings, error) {
	return nil, nil
}
