package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// controller-gen writes the CRD and the DeepCopy functions from these markers (make manifests
// generate). Comments become descriptions, which kubectl explain shows.

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=foos
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=unapproved, used for teaching only"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 63",optionalOldSelf=true,message="metadata.name: at most 63 characters, since it becomes the value of the label \"controller\""
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:selectablefield:JSONPath=.spec.deploymentName
// +kubebuilder:printcolumn:name=Deployment,type=string,JSONPath=.spec.deploymentName
// +kubebuilder:printcolumn:name=Desired,type=integer,JSONPath=.spec.replicas
// +kubebuilder:printcolumn:name=Available,type=integer,JSONPath=.status.availableReplicas
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp

// Foo asks for one Deployment.
type Foo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is the desired state. Only users write it.
	// +required
	Spec FooSpec `json:"spec"`
	// Status is the observed state. Only the controller writes it.
	// +optional
	Status FooStatus `json:"status,omitzero"`
}

// FooSpec is the desired state of a Foo.
type FooSpec struct {
	// DeploymentName is the name of the Deployment, in the Foo's namespace: a DNS-1123 label.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	DeploymentName string `json:"deploymentName"`
	// Replicas is the desired number of Pods, 1 to 10. The API server sets 1 where it is missing.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas *int32 `json:"replicas,omitempty"`
}

// FooStatus is the observed state of a Foo.
type FooStatus struct {
	// Replicas is the number of Pods that the Deployment has, ready or not.
	// +optional
	Replicas int32 `json:"replicas"`
	// Selector finds these Pods, for a HorizontalPodAutoscaler: "app=nginx,controller=NAME".
	// +optional
	Selector string `json:"selector,omitempty"`
	// AvailableReplicas is the number of Pods that the Deployment reports as available.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`
	// ObservedGeneration is the metadata.generation of the Foo that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions has one entry, of the type Ready. Each field manager owns its own entries.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true

// FooList is the API server's response to a list of Foos.
type FooList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Foo `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(scheme *runtime.Scheme) error {
		scheme.AddKnownTypes(SchemeGroupVersion, &Foo{}, &FooList{})
		return nil
	})
}
