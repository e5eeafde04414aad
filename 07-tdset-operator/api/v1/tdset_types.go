package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The API server checks the CEL rules below by itself, without the webhook. What they can't express
// is left to the webhook and to the condition Degraded: see internal/schedule.
//
// A rule is evaluated at every write, even of the status. A stored object may break it, because the
// rules may have changed. The API server ignores that as long as the field keeps its value, with
// two exceptions: if the field is the whole object, as in the rules for names, because every write
// changes that; and if a rule fails with an error, as the one for the zone may. Then nobody could
// write the object any more, not even to remove a finalizer. So these rules accept what they find
// in oldSelf.

// The names intervalMint and replica (today one would write intervalMinutes and replicas) come from
// the published operator that this one replaces, https://github.com/BackAged/tdset-operator. They
// stay, so that its users recognize their manifests.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=tdsets,shortName=tds
// +kubebuilder:subresource:status
// +kubebuilder:deprecatedversion:warning="schedule.rs/v1 TDSet is deprecated: use schedule.rs/v2, which has minutes, days and names"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 63",optionalOldSelf=true,message="metadata.name: at most 63 characters, since it becomes the value of a label"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.service) || oldSelf.hasValue() && has(oldSelf.value().spec.service) || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="metadata.name: with spec.service it becomes the name of a Service: lower case letters, digits and '-', and a letter first"
// +kubebuilder:printcolumn:name=Window,type=string,JSONPath=.status.activeWindow
// +kubebuilder:printcolumn:name=Replicas,type=integer,JSONPath=.status.desiredReplicas
// +kubebuilder:printcolumn:name=Next change,type=string,JSONPath=.status.nextTransitionTime
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Zone,type=string,priority=1,JSONPath=.spec.timeZone
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp

// TDSet asks for a Deployment of its own name that is scaled by the time of day, and optionally for
// a Service.
type TDSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state. Only users write it.
	// +required
	Spec TDSetSpec `json:"spec"`
	// Status is the observed state. Only the controller writes it.
	// +optional
	Status TDSetStatus `json:"status,omitzero"`
}

// TDSetSpec is the desired state of a TDSet.
type TDSetSpec struct {
	// Container is the container of every Pod.
	// +required
	Container Container `json:"container"`
	// Service makes the Pods reachable for others. Without it, there is no Service.
	// +optional
	Service *Service `json:"service,omitempty"`
	// SchedulingConfig lists the windows of the day, at most 24, no two of them with the same
	// hours. If they overlap, the first one counts.
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
	// TimeZone is the time zone of the windows' hours, by its IANA name, such as Europe/Berlin. The
	// default is UTC.
	// +optional
	// +default="UTC"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
	// +kubebuilder:validation:XValidation:rule="oldSelf.orValue('') == self || self != 'Local' && timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0",optionalOldSelf=true,message="unknown time zone: use an IANA name, such as Europe/Berlin or UTC"
	TimeZone string `json:"timeZone,omitempty"`
	// IntervalMint is a number of minutes, 1 to 1440. The controller looks at the TDSet at least
	// that often, and at least every ten minutes even if the interval is longer.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1440
	IntervalMint int32 `json:"intervalMint,omitempty"`
}

// Container is the container of every Pod.
type Container struct {
	// Image has 1 to 512 characters, and no blanks.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`
	// Port is the port on which it listens, 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// Service makes the Pods reachable for others.
type Service struct {
	// Port is the port of the Service, 1 to 65535. It leads to the container's port.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// +kubebuilder:validation:XValidation:rule="self.startTime != self.endTime",message="startTime and endTime must differ: for the whole day, use 0 and 24"

// Scheduling is a window of the day, in hours of the TDSet's time zone, and its number of replicas.
// It includes its start and excludes its end. If its end isn't after its start, it continues past
// midnight. Start and end differ: the whole day is 0 to 24.
type Scheduling struct {
	// StartTime is the first hour of the window, 0 to 23.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=23
	StartTime int32 `json:"startTime"`
	// EndTime is the hour after the last one of the window, 0 to 24. 0 and 24 both mean midnight.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=24
	EndTime int32 `json:"endTime"`
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
	// ActiveWindow is the active window, by its hours, such as 9-17, or default outside of all
	// windows. It is empty if the schedule is invalid.
	// +optional
	ActiveWindow string `json:"activeWindow,omitempty"`
	// DesiredReplicas is the number of replicas that the schedule asks for now.
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`
	// NextTransitionTime is when the active window changes. It is missing if that never happens.
	// +optional
	NextTransitionTime *metav1.Time `json:"nextTransitionTime,omitempty"`
	// Conditions has an entry of each of the types Ready, Available, Progressing and Degraded.
	// Ready sums up the others. The list is a map, so that each entry can have an owner of its own.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true

// TDSetList is a list of TDSets.
type TDSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TDSet `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(scheme *runtime.Scheme) error {
		scheme.AddKnownTypes(SchemeGroupVersion, &TDSet{}, &TDSetList{})
		return nil
	})
}
