// Registration: how a client knows that the Go type TDSet is the kind TDSet of this group and version.

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of TDSet, as in its apiVersion field.
var GroupVersion = schema.GroupVersion{Group: "schedule.rs", Version: "v1"}

// SchemeGroupVersion is GroupVersion, by the name that the generated apply configurations have for it.
var SchemeGroupVersion = GroupVersion

// AddToScheme adds this package's types to scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &TDSet{}, &TDSetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
