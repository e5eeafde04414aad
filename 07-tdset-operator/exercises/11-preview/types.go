// The types of the API. Its review is done, so change nothing here. controller-gen generates
// manifests/crd.yaml and zz_generated.deepcopy.go from these types and their markers, which are the
// lines that begin with +. The ones here hold for the whole package.
//
// +groupName=preview.example.com
// +versionName=v1
// +kubebuilder:object:generate=true

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupVersion is the API group and version of Preview, as in its apiVersion field.
var groupVersion = schema.GroupVersion{Group: "preview.example.com", Version: "v1"}

// schemeBuilder adds this package's types to a scheme, which maps kinds to Go types.
var schemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Preview{}, &PreviewList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
})

// addToScheme makes a scheme's clients and caches understand Previews.
var addToScheme = schemeBuilder.AddToScheme

// Preview asks for a Deployment of its own name with one Pod, for a limited time. After that, the
// Deployment has none.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name: at most 63 characters, since it becomes the value of a label"
// +kubebuilder:printcolumn:name=Expires,type=string,JSONPath=.status.expiresAt
// +kubebuilder:printcolumn:name=Expired,type=string,JSONPath=`.status.conditions[?(@.type=="Expired")].status`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
type Preview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state. Only users write it.
	// +required
	Spec PreviewSpec `json:"spec"`
	// Status is the observed state. Only the controller writes it.
	// +optional
	Status PreviewStatus `json:"status,omitempty"`
}

// PreviewSpec is the desired state of a Preview.
type PreviewSpec struct {
	// Image is the image of the Pod's only container: 1 to 512 characters, and no blanks.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`
	// TTLSeconds is how long the Preview lives, in seconds since its creation: 1 to 31536000, which
	// is a year. If you raise it after the end, the Preview comes back.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	TTLSeconds int32 `json:"ttlSeconds"`
}

// PreviewStatus is the observed state of a Preview.
type PreviewStatus struct {
	// ObservedGeneration is the metadata.generation of the Preview that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ExpiresAt is the time at which the Preview expires: its creation, and ttlSeconds later.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
	// Conditions has two entries. Expired: the time has passed. Ready: the Deployment has done
	// what was asked for, which is one Pod before the Preview expires, and none after that. Others
	// may add theirs.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PreviewList is the API server's response to a list of Previews.
//
// +kubebuilder:object:root=true
type PreviewList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Preview `json:"items"`
}
