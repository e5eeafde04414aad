// Lines that begin with + are markers. They tell controller-gen what to do with this package. A
// misspelled marker isn't an error: nothing is generated for it.
//
// +groupName=samplecontroller.k8s.io
// +kubebuilder:object:generate=true

// Package v1alpha1 holds the Go types of the Foo resource.
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of Foo, as in its apiVersion field.
var GroupVersion = schema.GroupVersion{Group: "samplecontroller.k8s.io", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion under the name that kubebuilder uses in a new type's file.
var SchemeGroupVersion = GroupVersion

// SchemeBuilder adds this group and version to a scheme, and the types that register with it.
var SchemeBuilder = runtime.NewSchemeBuilder(func(scheme *runtime.Scheme) error {
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
})

// AddToScheme adds this package's types to scheme.
var AddToScheme = SchemeBuilder.AddToScheme
