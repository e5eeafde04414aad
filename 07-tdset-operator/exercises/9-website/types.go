// The types of the API. Its review is done, so change nothing here. controller-gen generates
// manifests/crd.yaml and zz_generated.deepcopy.go from these types and their markers, which are the
// lines that begin with +. The ones here hold for the whole package.
//
// +groupName=web.example.com
// +versionName=v1
// +kubebuilder:object:generate=true

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupVersion is the API group and version of Website, as in its apiVersion field.
var groupVersion = schema.GroupVersion{Group: "web.example.com", Version: "v1"}

// schemeBuilder adds this package's types to a scheme, which maps kinds to Go types.
var schemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Website{}, &WebsiteList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
})

// addToScheme makes a scheme's clients and caches understand Websites.
var addToScheme = schemeBuilder.AddToScheme

// Website asks for web servers that serve one page. It owns a ConfigMap, a Deployment and a
// Service, which all have its name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name: it becomes the name of a Service, so at most 63 lower case letters, digits and '-', and a letter first"
// +kubebuilder:printcolumn:name=Replicas,type=integer,JSONPath=.spec.replicas
// +kubebuilder:printcolumn:name=Available,type=integer,JSONPath=.status.availableReplicas
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state. Only users write it.
	// +required
	Spec WebsiteSpec `json:"spec"`
	// Status is the observed state. Only the controller writes it.
	// +optional
	Status WebsiteStatus `json:"status,omitempty"`
}

// WebsiteSpec is the desired state of a Website.
type WebsiteSpec struct {
	// Content is the page, in HTML. It has at most 250000 characters, because it has to fit into a
	// ConfigMap.
	// +required
	// +kubebuilder:validation:MaxLength=250000
	Content string `json:"content"`
	// Replicas is the desired number of Pods, 0 to 100. The API server sets 1 where it is missing.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Replicas *int32 `json:"replicas,omitempty"`
}

// WebsiteStatus is the observed state of a Website.
type WebsiteStatus struct {
	// ObservedGeneration is the metadata.generation of the Website that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// AvailableReplicas is the number of Pods that the Deployment reports as available.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`
	// Conditions has an entry of the type Ready: all Pods serve the page. Others may add theirs.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WebsiteList is the API server's response to a list of Websites.
//
// +kubebuilder:object:root=true
type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Website `json:"items"`
}
