// A scheme maps kinds to Go types. AddToGroupVersion adds what every group needs, such as watch
// events. Chapter 04 generates this file.

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AddToScheme adds this package's types to scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(schema.GroupVersion(GroupVersion), &TDSet{}, &TDSetList{})
	metav1.AddToGroupVersion(scheme, schema.GroupVersion(GroupVersion))
	return nil
}
