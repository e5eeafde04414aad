//go:build solution

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
const Staging = `
# Don't patch config/default, but choose other parts: leave out the CRD, which exists already, and the
# webhooks with their certificates. The prefix gives the objects without a namespace other names.
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
    - op: add
      path: /spec/template/spec/containers/0/env/-
      value: {name: ENABLE_WEBHOOKS, value: "false"}
# The ClusterRole says what the manager may do, and the binding says where. A RoleBinding has a
# namespace, which kustomize sets to the one above.
- target:
    kind: ClusterRoleBinding
    name: manager-rolebinding
  patch: |-
    - op: replace
      path: /kind
      value: RoleBinding
# The budget keeps at least one Pod running. There is only one, so a drain would wait forever.
- target:
    kind: PodDisruptionBudget
  patch: |-
    $patch: delete
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata:
      name: controller-manager
# The namespace belongs to the team: don't set its labels, and don't delete it with this installation.
- target:
    kind: Namespace
  patch: |-
    $patch: delete
    apiVersion: v1
    kind: Namespace
    metadata:
      name: system
`
