// Lines that begin with + are tags: orders to the code generators, which hack/update-codegen.sh runs. Those here hold for the whole
// package. A tag that is misspelled is no error: what it orders just isn't made.
//
// Write DeepCopy for every type, into zz_generated.deepcopy.go. Without it Foo is no runtime.Object, and no client compiles.
// +k8s:deepcopy-gen=package
//
// The API group. register-gen writes the registration with it, into zz_generated.register.go, and client-gen the paths of requests.
// Without it that file isn't made, and the clientset, which uses it, doesn't compile. (A register.go written by hand would
// silence register-gen.)
// +groupName=samplecontroller.k8s.io
//
// Describe the types in OpenAPI, from which apply configurations know which lists have keys. Without it, an apply to the fake
// clientset fails.
// +k8s:openapi-gen=true
//
// Not here: defaulter-gen, which writes functions that set defaults. For a CRD, the word default in its schema does that.

// Package v1alpha1 holds the Go types of the Foo resource. The schema that the API server enforces is the CRD in
// manifests/crd.yaml; these types only say how its JSON looks from Go.
package v1alpha1
