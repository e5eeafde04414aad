// The first installation. You don't need to change anything here.

package overlay

// Production is config/production/kustomization.yaml: everything in config/default, for the Foos of
// one namespace. Two managers that act on the same Foos would revert each other's changes forever,
// so each has its own namespace.
const Production = `
resources:
- ../default

patches:
# The manager's arguments are a list, and this adds one at its end.
- target:
    kind: Deployment
    name: foo-operator-controller-manager
  patch: |-
    - op: add
      path: /spec/template/spec/containers/0/args/-
      value: --namespace=production
# Foos of other namespaces don't go through its webhooks.
- target:
    group: admissionregistration.k8s.io
  patch: |-
    - op: add
      path: /webhooks/0/namespaceSelector
      value:
        matchLabels:
          kubernetes.io/metadata.name: production
`
