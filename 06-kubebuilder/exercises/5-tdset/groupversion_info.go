// The markers for the whole package. In a project, the package has the name of its version, v1, and
// controller-gen takes the version from there. Here the types are in package main, because the
// check looks at only one folder, so the version needs a marker.
//
// +groupName=schedule.rs
// +versionName=v1
// +kubebuilder:object:generate=true

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:generate env GOWORK=off go tool controller-gen object paths=.
//go:generate env GOWORK=off sh -c "go tool controller-gen --load-build-tags=solution crd:omitToolVersion=true paths=. output:stdout >manifests/crd.yaml"

// groupVersion is the API group and version of TDSet, as in its apiVersion field.
var groupVersion = schema.GroupVersion{Group: "schedule.rs", Version: "v1"}

// addToScheme adds TDSet's types to scheme.
func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &TDSet{}, &TDSetList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}
