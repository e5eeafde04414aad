//go:build solution

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
const Staging = `
# This is no patch to config/default, but another choice of the parts: the CRD is there already, and there is one for all; webhooks, and
# the certificates for them, it is to have none. What has no namespace gets a name of its own by the prefix.
namespace: staging
namePrefix: foo-staging-

resources:
- ../rbac
- ../manager

images:
- name: foo-operator
  newTag: 0.2.0-rc.1

replicas:
- name: controller-manager
  count: 1

patches:
- target:
    kind: Deployment
    name: controller-manager
  patch: |-
    - op: add
      path: /spec/template/spec/containers/0/args/-
      value: --namespace=staging
# The ClusterRole says what it may do, and the binding says where. namespace, above, gives it one, since it can have one now.
- target:
    kind: ClusterRoleBinding
    name: manager-rolebinding
  patch: |-
    - op: replace
      path: /kind
      value: RoleBinding
# One Pod, of which at least one must run: a drain would wait forever.
- target:
    kind: PodDisruptionBudget
  patch: |-
    $patch: delete
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata:
      name: controller-manager
# The team's: its labels aren't ours to set, and who deletes this copy must not delete it.
- target:
    kind: Namespace
  patch: |-
    $patch: delete
    apiVersion: v1
    kind: Namespace
    metadata:
      name: system
`
