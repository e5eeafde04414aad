//go:build solution

// +groupName=exercises.example.com
// +versionName=v1

// Package markers has the Go types of a resource. controller-gen makes its CRD from them.
package markers

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The API server should keep the promises in the comments. Each refusal should name the field that
// the promise is about.
//
// It must make no difference whether a Backup comes from YAML or from a Go program that uses these
// types. Either can set every allowed value. If either forgets a required field, the Backup is
// refused.

// Backup asks for a daily copy of a database.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state. It is required.
	// +required
	Spec BackupSpec `json:"spec"`
}

// The rule for Primary is on BackupSpec, because it needs two fields. fieldPath is the one that the
// error names. The server estimates the rule's cost from MaxItems and MaxLength. Without limits on
// the number and the length of the names, it would refuse the CRD.

// BackupSpec is the desired state of a Backup.
// +kubebuilder:validation:XValidation:rule="!has(self.primary) || self.stores.exists(store, store.name == self.primary)",fieldPath=".primary",message="spec.stores has no such name: add a store of that name, or name an existing one"
type BackupSpec struct {
	// Database is the name of the database: a DNS-1123 label (a to z, 0 to 9, and "-" except at the
	// ends) of at most 63 characters. It is required, and it can't be changed. The error for a
	// change says what to do instead: "make another Backup".
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="it can't be changed: for another database, make another Backup"
	Database string `json:"database"`

	// Hour is when the backup begins, in UTC, 0 to 23. It is required. 0 is midnight.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=23
	Hour *int32 `json:"hour,omitempty"` // a pointer, so that a program can send 0 or nothing

	// Mode is Full or Incremental. The default is Full.
	// +optional
	// +default="Full"
	// +kubebuilder:validation:Enum=Full;Incremental
	Mode string `json:"mode,omitempty"`

	// Stores are where the copies go, 1 to 8 of them. They are required. No two have the same name.
	// If you apply one of them, the others stay as they are.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Stores []Store `json:"stores,omitempty"`

	// Primary is the name of the store to restore from. It is optional. If it is set, it must be
	// the name of one of the stores. Otherwise the error says "add a store of that name".
	// +optional
	Primary string `json:"primary,omitempty"`

	// Retention says how many copies are kept. It is optional. Leaving it out is the same as
	// setting it to {}.
	// +optional
	// +default={}
	Retention Retention `json:"retention,omitempty"`
}

// Store is a place for copies.
type Store struct {
	// Name is a DNS-1123 label of at most 63 characters. It is required.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Address begins with s3:// or https://, followed by at least one character. It has at most 255
	// characters. It is required.
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^(s3|https)://.+`
	Address string `json:"address"`
}

// Retention says how many copies are kept.
type Retention struct {
	// Copies is the number of copies to keep, 0 to 30. With 0, only today's are kept. The default
	// is 7.
	// +optional
	// +default=7
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=30
	Copies *int32 `json:"copies,omitempty"` // a pointer: omitempty leaves out an int32 of 0
}
