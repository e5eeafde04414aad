// The markers that hold for the whole package. What each of them orders stands in the chapter's
// pkg/apis/samplecontroller/v1alpha1/doc.go.
//
// +groupName=schedule.rs
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true

// Package v1 holds the Go types of the TDSet resource: what the user writes, and how its JSON looks from Go. The schema that
// the API server enforces is the CRD in manifests/crd.yaml.
package v1

//go:generate env GOWORK=off go tool controller-gen object applyconfiguration paths=.
