// The tags that hold for the whole package. What each of them does, and what is missing without it, is in the chapter's
// pkg/apis/samplecontroller/v1alpha1/doc.go.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +groupName=schedule.rs

// Package v1 holds the Go types of the TDSet resource: what the user writes, and how its JSON looks from Go. The schema that
// the API server enforces is the CRD in manifests/crd.yaml.
package v1
