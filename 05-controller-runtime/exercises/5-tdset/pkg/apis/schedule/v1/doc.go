// The tags for the whole package. The chapter's pkg/apis/samplecontroller/v1alpha1/doc.go explains
// them.
//
// +k8s:deepcopy-gen=package
// +groupName=schedule.rs

// Package v1 holds the Go types of the TDSet resource. The schema that the API server enforces is
// the CRD in manifests/crd.yaml. These types only say how its JSON looks in Go.
package v1
