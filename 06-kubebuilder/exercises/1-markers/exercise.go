//go:build !solution

// +groupName=exercises.example.com
// +versionName=v1

// Package markers has the Go types of a resource. Its CRD is made from them.
package markers

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What the comments promise, the API server shall see to. Each refusal is at the field that the promise is about.
//
// Whether YAML says it or a Go program that has these types: it is the same Backup. What the one can say the other can, and what
// the one leaves out the other can leave out.
//
// YOUR WORK: the server reads no comments, and here nearly all markers are missing. The tags for encoding/json aren't all right.

// Backup asks for copies of a database, one a day.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user wants. It has to be said.
	Spec BackupSpec `json:"spec,omitempty"`
}

// BackupSpec is the desired state of a Backup.
type BackupSpec struct {
	// Database is the name of what is copied: a DNS-1123 label (a to z, 0 to 9, and "-" except at the ends), at most 63 characters.
	// It has to be said, and it never changes. The refusal of a change says what to do instead: "make another Backup".
	// +required
	// +default="main"
	Database string `json:"database,omitempty"`

	// Hour is when it begins, in UTC, 0 to 23. It has to be said: 0 is midnight.
	Hour int32 `json:"hour,omitempty"`

	// Mode is Full or Incremental. Where it isn't said, it is Full.
	Mode string `json:"mode,omitempty"`

	// Stores are where the copies go, 1 to 8 of them. They have to be said. No two have the same name, and who applies one of
	// them leaves the others alone.
	Stores []Store `json:"stores,omitempty"`

	// Primary is the name of the store to restore from. It needn't be said. If it is, it is one of the stores' names: a refusal
	// says "add a store of that name".
	Primary string `json:"primary,omitempty"`

	// Retention is what is kept. Where it isn't said, it is what it would be if it were said and empty.
	Retention Retention `json:"retention,omitempty"`
}

// Store is a place for copies.
type Store struct {
	// Name is a DNS-1123 label, at most 63 characters. It has to be said.
	Name string `json:"name,omitempty"`

	// Address begins with s3:// or https://, and goes on. It is at most 255 characters. It has to be said.
	Address string `json:"address,omitempty"`
}

// Retention is what is kept.
type Retention struct {
	// Copies is how many are kept, 0 to 30. With 0, only those of the day are. Where it isn't said, it is 7.
	Copies int32 `json:"copies,omitempty"`
}
