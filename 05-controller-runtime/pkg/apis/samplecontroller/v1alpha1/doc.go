// Lines that begin with + are markers: orders to controller-gen, in go generate's line below. Those here hold for the whole package.
// A marker that is misspelled is no error: what it orders just isn't made.
//
// The API group, for the apply configurations.
// +groupName=samplecontroller.k8s.io
//
// Write DeepCopy for every type, into zz_generated.deepcopy.go. Without it Foo is no runtime.Object, and no client takes it.
// +kubebuilder:object:generate=true
//
// Write apply configurations, into the folder applyconfiguration.
// +kubebuilder:ac:generate=true

// Package v1alpha1 holds the Go types of the Foo resource. The schema that the API server enforces is the CRD in
// manifests/crd.yaml; these types only say how its JSON looks from Go.
package v1alpha1

//go:generate env GOWORK=off go tool controller-gen object applyconfiguration paths=.
