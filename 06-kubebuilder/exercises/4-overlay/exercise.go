//go:build !solution

// Package overlay is about installing an operator twice in the same cluster.
package overlay

// Staging is config/staging/kustomization.yaml: a second installation, in which a team tries new
// versions of the operator, in its namespace staging.
//
//   - Everything that it needs is in that namespace, including its Lease. It acts on the Foos
//     there, and on no others. The namespace belongs to the team, so it exists already, and stays
//     when this installation is deleted.
//   - It runs one replica of the image foo-operator:0.2.0-rc.1, and doesn't block the draining of a
//     node.
//   - It has no webhooks, so ENABLE_WEBHOOKS=false is in the manager's environment. It has the same
//     permissions as the first installation, but in its own namespace only. (It may keep the
//     permission to ask who a client of its metrics is and what that client may do, because such
//     requests have no namespace.)
//   - The first installation (production.go) stays as it is, no matter which one is applied last,
//     or if this one is deleted.
//
// YOUR WORK: this installs everything again, in another namespace.
const Staging = `
namespace: staging

resources:
- ../default
`
