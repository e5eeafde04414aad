package kind

// What kind makes the cluster from.

import (
	_ "embed"
	"os"
	"path/filepath"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"example.com/operators/scripts/internal/cluster"
)

// auditPatch has the API server write an audit log, as kind's documentation on auditing shows.
//
//go:embed audit-patch.yaml
var auditPatch string

// oldCgroups lets the kubelet run on a machine that still has cgroups of version 1.
const oldCgroups = "kind: KubeletConfiguration\nfailCgroupV1: false\n"

// config is for one node, which runs everything.
func (c *Cluster) config(docker engine) (*v1alpha4.Cluster, error) {
	audit := filepath.Dir(c.AuditLog())
	if err := os.MkdirAll(audit, 0o700); err != nil {
		return nil, err
	}
	policy := filepath.Join(c.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, cluster.AuditPolicy(), 0o600); err != nil {
		return nil, err
	}
	// The API server is root, and appends to a file that is there: so the log stays ours to read, even when it moves a full one aside.
	if err := os.WriteFile(c.AuditLog(), nil, 0o600); err != nil {
		return nil, err
	}
	patches := []string{auditPatch}
	if docker.CgroupVersion == "1" {
		patches = append(patches, oldCgroups)
	}
	return &v1alpha4.Cluster{
		Nodes: []v1alpha4.Node{{
			Role:  v1alpha4.ControlPlaneRole,
			Image: c.image(),
			ExtraMounts: []v1alpha4.Mount{
				{HostPath: policy, ContainerPath: "/etc/kubernetes/audit-policy.yaml", Readonly: true},
				{HostPath: audit, ContainerPath: "/var/log/kubernetes-audit"},
			},
		}},
		KubeadmConfigPatches: patches,
	}, nil
}
