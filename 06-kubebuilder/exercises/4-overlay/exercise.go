//go:build !solution

// Package overlay is about installing an operator once more, beside the first.
package overlay

// Staging is config/staging/kustomization.yaml: a copy of the operator that a team tries new versions with, in its namespace staging.
//
//   - It has all that it needs in that namespace, its Lease too, and acts on the Foos there and on no others. The namespace is the
//     team's: it was there before, and stays when this copy goes.
//   - It runs the image foo-operator:0.2.0-rc.1, once, and doesn't keep a node from being drained.
//   - It has no webhooks, and may do what the first may, in its own namespace alone. (Who a client of the metrics is, and what that may,
//     has no namespace: its right to ask may stay.)
//   - The first installation (production.go) stays as it is, whichever is applied last, and whichever is deleted.
//
// YOUR WORK: this is the whole once more, in another namespace.
const Staging = `
namespace: staging

resources:
- ../default
`
