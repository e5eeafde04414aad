// Lines that begin with + are tags. They tell the code generators, which hack/update-codegen.sh
// runs, what to do with this package. A misspelled tag isn't an error: nothing is generated for it.
//
//   - deepcopy-gen writes DeepCopy for every type.
//   - register-gen writes GroupVersion, from groupName, and Install, which adds the types to a scheme.
//
// +k8s:deepcopy-gen=package
// +groupName=samplecontroller.k8s.io

// Package v1alpha1 holds the Go types of the Foo resource. The schema that the API server enforces
// is the CRD in manifests/crd.yaml. These types only say how its JSON looks in Go.
package v1alpha1
