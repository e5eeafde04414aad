// Lines that begin with + are markers for controller-gen, which `make manifests generate` runs. The
// ones here hold for the whole package. controller-gen ignores a misspelled marker without an
// error.
//
// The API group, for the CRD and the apply configurations.
// +groupName=schedule.rs
//
// Write DeepCopy for every type, into zz_generated.deepcopy.go. Without it, TDSet is no
// runtime.Object, so no client accepts it.
// +kubebuilder:object:generate=true
//
// Write apply configurations, into the folder applyconfiguration.
// +kubebuilder:ac:generate=true

// Package v2 holds the Go types of the TDSet resource. The CRD in config/crd/bases, whose schema
// the API server enforces, is generated from them.
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of TDSet, as in its apiVersion field.
var GroupVersion = schema.GroupVersion{Group: "schedule.rs", Version: "v2"}

// SchemeGroupVersion is GroupVersion under the name that the generated apply configurations use.
var SchemeGroupVersion = GroupVersion

// SchemeBuilder adds this group and version to a scheme, and the types that register here.
var SchemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
})

// AddToScheme adds this package's types to scheme.
var AddToScheme = SchemeBuilder.AddToScheme
