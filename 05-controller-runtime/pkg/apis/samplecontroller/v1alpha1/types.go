package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A type's tags are in a separate comment above it. deepcopy-gen:interfaces adds DeepCopyObject,
// which makes the type a runtime.Object.

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Foo asks for one Deployment.
type Foo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state. Only users write it.
	Spec FooSpec `json:"spec"`
	// Status is the observed state. Only the controller writes it.
	Status FooStatus `json:"status,omitzero"`
}

// FooSpec is the desired state of a Foo.
type FooSpec struct {
	// DeploymentName is the name of the Deployment, in the Foo's namespace: a DNS-1123 label.
	DeploymentName string `json:"deploymentName"`
	// Replicas is the desired number of Pods, 1 to 10. The API server sets 1 where it is missing.
	Replicas *int32 `json:"replicas,omitempty"`
}

// FooStatus is the observed state of a Foo.
type FooStatus struct {
	// Replicas is the number of Pods that the Deployment has, ready or not.
	Replicas int32 `json:"replicas"`
	// Selector finds these Pods, for a HorizontalPodAutoscaler: "app=nginx,controller=NAME".
	Selector string `json:"selector,omitempty"`
	// AvailableReplicas is the number of Pods that the Deployment reports as available.
	AvailableReplicas int32 `json:"availableReplicas"`
	// ObservedGeneration is the metadata.generation of the Foo that this status was made from.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions has one entry, of the type Ready. Each field manager owns its own entries.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// FooList is the API server's response to a list of Foos.
type FooList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Foo `json:"items"`
}
