package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The rules in CEL below can be checked by the API server alone, with no webhook there. What they can't say is left to the
// webhook, and to the condition Degraded: see internal/schedule.
//
// A rule is evaluated at every write, to the status too. What is stored may break it, since there were other rules before: that isn't held
// against a field that stays as it is. But it is where the field is the whole object, which every write changes, as in the rules for names;
// and where a rule can't be evaluated, as that for the zone, since an error isn't false. Then nothing could be written any more, not even the
// end of the finalizer. So these rules let pass what was so before (oldSelf).

// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=tds
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 63",optionalOldSelf=true,message="metadata.name: at most 63 characters, since it becomes the value of a label"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.service) || oldSelf.hasValue() && has(oldSelf.value().spec.service) || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="metadata.name: with spec.service it becomes the name of a Service: lower case letters, digits and '-', and a letter first"
// +kubebuilder:printcolumn:name=Window,type=string,JSONPath=.status.activeWindow
// +kubebuilder:printcolumn:name=Replicas,type=integer,JSONPath=.status.desiredReplicas
// +kubebuilder:printcolumn:name=Next change,type=string,JSONPath=.status.nextTransitionTime
// +kubebuilder:printcolumn:name=Available,type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name=Zone,type=string,priority=1,JSONPath=.spec.timeZone
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Degraded")].message`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp

// TDSet asks for one Deployment, of its own name, that is scaled by the time of day, and for a Service if it says so.
type TDSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants. Only users write it.
	// +required
	Spec TDSetSpec `json:"spec"`
	// Status is what the controller saw. Only the controller writes it.
	// +optional
	Status TDSetStatus `json:"status,omitempty"`
}

// TDSetSpec is the desired state of a TDSet.
type TDSetSpec struct {
	// Container is what every Pod runs.
	// +required
	Container Container `json:"container"`
	// Service is how the Pods are reached by others. Where it is missing, there is no Service.
	// +optional
	Service *Service `json:"service,omitempty"`
	// SchedulingConfig are the windows of the day, at most 24, no two of them with the same hours. Where they overlap, the first
	// one counts.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.startTime == b.startTime && a.endTime % 24 == b.endTime % 24))",message="two windows have the same startTime and endTime (0 and 24 are the same end): delete one of them"
	SchedulingConfig []Scheduling `json:"schedulingConfig"`
	// DefaultReplica is the number of replicas outside of all windows, 1 to 1000. The API server sets 1 where it is missing.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	DefaultReplica int32 `json:"defaultReplica"`
	// TimeZone is the zone whose hours the windows are in, by its IANA name, such as Europe/Berlin. The API server sets UTC where
	// it is missing.
	// +optional
	// +default="UTC"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
	// +kubebuilder:validation:XValidation:rule="oldSelf.orValue('') == self || self != 'Local' && timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0",optionalOldSelf=true,message="no known time zone: say an IANA name, such as Europe/Berlin or UTC"
	TimeZone string `json:"timeZone,omitempty"`
	// IntervalMint is a number of minutes, 1 to 1440: that often the controller looks again, whatever the schedule says. Where it
	// is missing, the controller looks only when there is a reason to.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1440
	IntervalMint int32 `json:"intervalMint,omitempty"`
}

// Container is what every Pod runs.
type Container struct {
	// Image has 1 to 512 characters, and no blanks.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`
	// Port is where it listens, 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// Service is how the Pods are reached by others.
type Service struct {
	// Port is where the Service listens, 1 to 65535. It leads to the container's port.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// +kubebuilder:validation:XValidation:rule="self.startTime != self.endTime",message="startTime and endTime must differ: for the whole day, say 0 and 24"

// Scheduling is a window of the day, in hours of the TDSet's time zone, and the number of replicas in it. It has its start and
// not its end. One whose end isn't after its start goes on past midnight. Start and end differ: the whole day is 0 to 24.
type Scheduling struct {
	// StartTime is the hour with which the window begins, 0 to 23.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=23
	StartTime int32 `json:"startTime"`
	// EndTime is the hour before which it ends, 0 to 24. 0 and 24 both mean midnight.
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
	// ActiveWindow is the window that is active, by its hours, such as 9-17; or default, outside of all windows. Empty if there
	// is no telling.
	// +optional
	ActiveWindow string `json:"activeWindow,omitempty"`
	// DesiredReplicas is the number of replicas that the schedule asks for now.
	// +optional
	DesiredReplicas *int32 `json:"desiredReplicas,omitempty"`
	// NextTransitionTime is when another window will be active, or none any more. Missing if that never happens.
	// +optional
	NextTransitionTime *metav1.Time `json:"nextTransitionTime,omitempty"`
	// Conditions has an entry for each of the types Available, Progressing and Degraded. It is a map: owners own entries.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true

// TDSetList is what the API server answers to a list of TDSets.
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
