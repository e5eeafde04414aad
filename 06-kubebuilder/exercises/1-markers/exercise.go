//go:build !solution

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
//
// YOUR WORK: the server reads no comments, and nearly all markers are missing. Some of the tags for
// encoding/json, and some of the fields' types, are wrong.

// Backup asks for a daily copy of a database.
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state. It is required.
	Spec BackupSpec `json:"spec,omitempty"`
}

// BackupSpec is the desired state of a Backup.
type BackupSpec struct {
	// Database is the name of the database: a DNS-1123 label (a to z, 0 to 9, and "-" except at the
	// ends) of at most 63 characters. It is required, and it can't be changed. The error for a
	// change says what to do instead: "make another Backup".
	// +required
	// +default="main"
	Database string `json:"database,omitempty"`

	// Hour is when the backup begins, in UTC, 0 to 23. It is required. 0 is midnight.
	Hour int32 `json:"hour,omitempty"`

	// Mode is Full or Incremental. The default is Full.
	Mode string `json:"mode,omitempty"`

	// Stores are where the copies go, 1 to 8 of them. They are required. No two have the same name.
	// If you apply one of them, the others stay as they are.
	Stores []Store `json:"stores,omitempty"`

	// Primary is the name of the store to restore from. It is optional. If it is set, it must be
	// the name of one of the stores. Otherwise the error says "add a store of that name".
	Primary string `json:"primary,omitempty"`

	// Retention says how many copies are kept. It is optional. Leaving it out is the same as
	// setting it to {}.
	Retention Retention `json:"retention,omitempty"`
}

// Store is a place for copies.
type Store struct {
	// Name is a DNS-1123 label of at most 63 characters. It is required.
	Name string `json:"name,omitempty"`

	// Address begins with s3:// or https://, followed by at least one character. It has at most 255
	// characters. It is required.
	Address string `json:"address,omitempty"`
}

// Retention says how many copies are kept.
type Retention struct {
	// Copies is the number of copies to keep, 0 to 30. With 0, only today's are kept. The default
	// is 7.
	Copies int32 `json:"copies,omitempty"`
}
