//go:build solution

// +groupName=exercises.example.com
// +versionName=v1

// Package markers has the Go types of a resource. Its CRD is made from them.
package markers

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What the comments promise, the API server shall see to. Each refusal is at the field that the promise is about.
//
// Whether YAML says it or a Go program that has these types: it is the same Backup. What the one can say the other can, and what
// the one leaves out the other can leave out.

// Backup asks for copies of a database, one a day.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants. It has to be said.
	// +required
	Spec BackupSpec `json:"spec"`
}

// The rule for Primary is on BackupSpec, since it needs two fields; fieldPath says which of them the error names. Its cost is estimated
// from MaxItems and MaxLength: without a limit on the number or length of names, the server rejects the CRD itself.

// BackupSpec is the desired state of a Backup.
// +kubebuilder:validation:XValidation:rule="!has(self.primary) || self.stores.exists(store, store.name == self.primary)",fieldPath=".primary",message="spec.stores has no such name: add a store of that name, or name one that is there"
type BackupSpec struct {
	// Database is the name of what is copied: a DNS-1123 label (a to z, 0 to 9, and "-" except at the ends), at most 63 characters.
	// It has to be said, and it never changes. The refusal of a change says what to do instead: "make another Backup".
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="it never changes: for another database, make another Backup"
	Database string `json:"database"`

	// Hour is when it begins, in UTC, 0 to 23. It has to be said: 0 is midnight.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=23
	Hour *int32 `json:"hour,omitempty"` // not an int32: a Go program couldn't leave it out, and would say midnight

	// Mode is Full or Incremental. Where it isn't said, it is Full.
	// +optional
	// +default="Full"
	// +kubebuilder:validation:Enum=Full;Incremental
	Mode string `json:"mode,omitempty"`

	// Stores are where the copies go, 1 to 8 of them. They have to be said. No two have the same name, and who applies one of
	// them leaves the others alone.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Stores []Store `json:"stores,omitempty"`

	// Primary is the name of the store to restore from. It needn't be said. If it is, it is one of the stores' names: a refusal
	// says "add a store of that name".
	// +optional
	Primary string `json:"primary,omitempty"`

	// Retention is what is kept. Where it isn't said, it is what it would be if it were said and empty.
	// +optional
	// +default={}
	Retention Retention `json:"retention,omitempty"`
}

// Store is a place for copies.
type Store struct {
	// Name is a DNS-1123 label, at most 63 characters. It has to be said.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Address begins with s3:// or https://, and goes on. It is at most 255 characters. It has to be said.
	// +required
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^(s3|https)://.+`
	Address string `json:"address"`
}

// Retention is what is kept.
type Retention struct {
	// Copies is how many are kept, 0 to 30. With 0, only those of the day are. Where it isn't said, it is 7.
	// +optional
	// +default=7
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=30
	Copies *int32 `json:"copies,omitempty"` // a pointer: an int32 of 0 would be left out, and become 7
}
