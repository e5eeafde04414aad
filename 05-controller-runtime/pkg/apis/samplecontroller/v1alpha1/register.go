// Registration: how a client knows that the Go type Foo is the kind Foo of this group and version. controller-gen doesn't write it.

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of Foo, as in its apiVersion field.
var GroupVersion = schema.GroupVersion{Group: "samplecontroller.k8s.io", Version: "v1alpha1"}

// SchemeGroupVersion is GroupVersion, by the name that the generated apply configurations have for it.
var SchemeGroupVersion = GroupVersion

// AddToScheme adds this package's types to scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Foo{}, &FooList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
