// The types of the API. Its review is done, so change nothing here. controller-gen generates
// manifests/crd.yaml and zz_generated.deepcopy.go from these types and their markers, which are the
// lines that begin with +. The ones here hold for the whole package.
//
// +groupName=pool.example.com
// +versionName=v1
// +kubebuilder:object:generate=true

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupVersion is the API group and version of Pool, as in its apiVersion field.
var groupVersion = schema.GroupVersion{Group: "pool.example.com", Version: "v1"}

// schemeBuilder adds this package's types to a scheme, which maps kinds to Go types.
var schemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Pool{}, &PoolList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
})

// addToScheme makes a scheme's clients and caches understand Pools.
var addToScheme = schemeBuilder.AddToScheme

// Pool asks for a number of Pods that are all alike. It owns them directly, without a Deployment.
// Their names are the Pool's name with a number: NAME-0, NAME-1 and so on.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 60",message="metadata.name: at most 60 characters, since '-' and a number make it the name of a Pod"
// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=.spec.size
// +kubebuilder:printcolumn:name=Ready Pods,type=integer,JSONPath=.status.readyPods
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
type Pool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state. Only users write it.
	// +required
	Spec PoolSpec `json:"spec"`
	// Status is the observed state. Only the controller writes it.
	// +optional
	Status PoolStatus `json:"status,omitempty"`
}

// PoolSpec is the desired state of a Pool.
type PoolSpec struct {
	// Size is the desired number of Pods, 0 to 50.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	Size int32 `json:"size"`
	// Image is the image of the Pod's only container: 1 to 512 characters, and no blanks.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`
}

// PoolStatus is the observed state of a Pool.
type PoolStatus struct {
	// ObservedGeneration is the metadata.generation of the Pool that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ReadyPods is the number of the Pool's Pods that are Ready.
	// +optional
	ReadyPods int32 `json:"readyPods"`
	// Conditions has an entry of the type Ready: all Pods are as the spec says, and Ready. Others
	// may add theirs.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PoolList is the API server's response to a list of Pools.
//
// +kubebuilder:object:root=true
type PoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Pool `json:"items"`
}
