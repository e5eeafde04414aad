// The types of the API. Its review is done, so change nothing here. controller-gen generates
// manifests/crd.yaml and zz_generated.deepcopy.go from these types and their markers, which are the
// lines that begin with +. The ones here hold for the whole package.
//
// +groupName=db.example.com
// +versionName=v1
// +kubebuilder:object:generate=true

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupVersion is the API group and version of Database, as in its apiVersion field.
var groupVersion = schema.GroupVersion{Group: "db.example.com", Version: "v1"}

// schemeBuilder adds this package's types to a scheme, which maps kinds to Go types.
var schemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Database{}, &DatabaseList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
})

// addToScheme makes a scheme's clients and caches understand Databases.
var addToScheme = schemeBuilder.AddToScheme

// Database asks for a database at a provider, which is outside the cluster, and for a ConfigMap of
// its own name that says where to find it. The database's external name is NAMESPACE.NAME.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=.spec.sizeGiB
// +kubebuilder:printcolumn:name=External ID,type=string,JSONPath=.status.externalID
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Message,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state. Only users write it.
	// +required
	Spec DatabaseSpec `json:"spec"`
	// Status is the observed state. Only the controller writes it.
	// +optional
	Status DatabaseStatus `json:"status,omitempty"`
}

// DatabaseSpec is the desired state of a Database.
type DatabaseSpec struct {
	// SizeGiB is the size of the database's storage, 1 to 1000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	SizeGiB int32 `json:"sizeGiB"`
	// DeletionPolicy says what happens to the database at the provider when the Database is deleted.
	// It can still be changed after that.
	// +optional
	// +default="Delete"
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DeletionPolicy is Delete or Retain. Delete means that the Database stays until its database at
// the provider is deleted. Retain means that the database at the provider stays as it is.
//
// +kubebuilder:validation:Enum=Delete;Retain
type DeletionPolicy string

// The deletion policies.
const (
	Delete DeletionPolicy = "Delete"
	Retain DeletionPolicy = "Retain"
)

// DatabaseStatus is the observed state of a Database.
type DatabaseStatus struct {
	// ObservedGeneration is the metadata.generation of the Database that this status was made from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ExternalID is the ID of the database at the provider, as far as it is known.
	// +optional
	ExternalID string `json:"externalID,omitempty"`
	// Conditions has an entry of the type Ready: the database is available, and as the spec says.
	// Others may add theirs.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DatabaseList is the API server's response to a list of Databases.
//
// +kubebuilder:object:root=true
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Database `json:"items"`
}
