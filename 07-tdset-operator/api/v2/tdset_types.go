package v2

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

// v2 is the storage version, and the hub of the conversion: api/v1 converts to it and from it, and
// the rest of the operator knows only v2.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=tdsets,shortName=tds
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
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
	// Windows lists the windows of the day, at most 24, each with a name of its own. If they
	// overlap, the first one counts. The list may be empty.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=24
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.name == b.name))",message="two windows have the same name: rename one of them"
	Windows []Window `json:"windows"`
	// DefaultReplicas is the number of replicas outside of all windows, 1 to 1000. The default is 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	DefaultReplicas int32 `json:"defaultReplicas"`
	// TimeZone is the time zone of the windows, by its IANA name, such as Europe/Berlin. The
	// default is UTC.
	// +optional
	// +default="UTC"
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
	// +kubebuilder:validation:XValidation:rule="oldSelf.orValue('') == self || self != 'Local' && timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0",optionalOldSelf=true,message="unknown time zone: use an IANA name, such as Europe/Berlin or UTC"
	TimeZone string `json:"timeZone,omitempty"`
	// IntervalMinutes is a number of minutes, 1 to 1440. The controller looks at the TDSet at least
	// that often, and at least every ten minutes even if the interval is longer.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1440
	IntervalMinutes int32 `json:"intervalMinutes,omitempty"`
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

// +kubebuilder:validation:XValidation:rule="self.start != self.end",message="start and end must differ: for the whole day, use 00:00 and 24:00"

// Window is a part of the day, in local time of the TDSet's time zone, and its number of replicas.
// It includes its start and excludes its end. If its end isn't after its start, it continues past
// midnight. Start and end differ: the whole day is 00:00 to 24:00.
type Window struct {
	// Name distinguishes the window from the others, also in the status: 1 to 63 lower case letters,
	// digits and '-', but not default, which is the time outside of all windows.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self != 'default'",message="default is the name of the time outside of all windows: choose another one"
	Name string `json:"name"`
	// Start is the time of day at which the window begins, such as "09:00", from 00:00 to 23:59.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Start string `json:"start"`
	// End is the time of day at which the window ends, such as "17:30", from 00:00 to 24:00. Both
	// 00:00 and 24:00 mean midnight.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$`
	End string `json:"end"`
	// Days are the days of the week on which the window begins, such as Mon. Without any, it begins
	// every day. The part after midnight belongs to the day before.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=7
	Days []Day `json:"days,omitempty"`
	// Replicas is the number of replicas in this window, 0 to 1000.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas"`
}

// Day is a day of the week, by the first three letters of its English name.
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Day string

// The days of the week.
const (
	Monday    Day = "Mon"
	Tuesday   Day = "Tue"
	Wednesday Day = "Wed"
	Thursday  Day = "Thu"
	Friday    Day = "Fri"
	Saturday  Day = "Sat"
	Sunday    Day = "Sun"
)

// TDSetStatus is the observed state of a TDSet.
type TDSetStatus struct {
	// ObservedGeneration is the metadata.generation of the TDSet that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ActiveWindow is the name of the active window, or default outside of all windows. It is empty
	// if the schedule is invalid.
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
