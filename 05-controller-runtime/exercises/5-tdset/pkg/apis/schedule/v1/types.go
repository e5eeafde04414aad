package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TDSet asks for one Deployment, of its own name, that is scaled by the time of day.
type TDSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TDSetSpec   `json:"spec"`
	Status TDSetStatus `json:"status,omitempty"`
}

// TDSetSpec is the desired state of a TDSet.
type TDSetSpec struct {
	Container Container `json:"container"`
	// Service asks for a Service. Nothing uses it before chapter 07.
	Service *Service `json:"service,omitempty"`
	// SchedulingConfig are the windows of the day. Where they overlap, the first one counts.
	SchedulingConfig []Scheduling `json:"schedulingConfig"`
	// DefaultReplica is the number of replicas outside of all windows.
	DefaultReplica int32 `json:"defaultReplica"`
	// IntervalMint is the most minutes that may pass before the controller checks the TDSet again,
	// even if nothing has changed. 0 means no limit.
	IntervalMint int32 `json:"intervalMint,omitempty"`
}

// Container is what every Pod runs.
type Container struct {
	Image string `json:"image"`
	Port  int32  `json:"port"`
}

// Service is how the Pods are reached.
type Service struct {
	Port int32 `json:"port"`
}

// Scheduling is a window of the day, in hours of UTC, and the number of replicas in it. It begins
// at StartTime (0 to 23) and ends at EndTime (0 to 24, where 0 and 24 both mean midnight). If
// EndTime isn't after StartTime, the window ends on the next day.
type Scheduling struct {
	StartTime int   `json:"startTime"`
	EndTime   int   `json:"endTime"`
	Replica   int32 `json:"replica"`
}

// TDSetStatus is the observed state of a TDSet.
type TDSetStatus struct {
	// ObservedGeneration is the metadata.generation of the TDSet that this status was made from.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions has one entry, of the type Ready. In the CRD, the list is a map, so
	// each entry has its own owners.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TDSetList is the API server's response to a list of TDSets.
type TDSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TDSet `json:"items"`
}
