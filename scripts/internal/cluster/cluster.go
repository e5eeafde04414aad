// Package cluster runs a real Kubernetes control plane with simulated nodes on this machine, which
// listens only on loopback. It starts the components, repairs a cluster that is partly down, and
// ends exactly what it started. Package gobuild builds their program. Nothing here reads
// ~/.kube/config or $KUBECONFIG.
package cluster

import (
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
)

const DefaultName = "workshop"

// Cluster need not exist yet. Several values, in several processes, may be the same cluster.
type Cluster struct {
	name  string
	state string // .workshop: holds the lock, the control plane's program, and all clusters
	dir   string // all that belongs to this cluster
}

// New returns a cluster of the repository at root.
func New(root, name string) *Cluster {
	state := filepath.Join(resolve(root), ".workshop")
	return &Cluster{name: name, state: state, dir: filepath.Join(state, "clusters", name)}
}

// resolve returns the absolute path without links, to recognize it in a process's arguments.
func resolve(path string) string {
	absolute, _ := filepath.Abs(path) // fails only in a working directory that was deleted
	if resolved, err := filepath.EvalSymlinks(absolute); err == nil {
		return resolved
	}
	return absolute
}

func (c *Cluster) Name() string { return c.name }

// Kubeconfig is the path of the administrator's kubeconfig, which has its certificates inside.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// AuditLog is the path of the API server's audit log: one JSON object (audit.k8s.io/v1 Event) a
// line, at level Metadata, when a response is sent and when a watch begins.
func (c *Cluster) AuditLog() string { return filepath.Join(c.dir, "logs", "audit.log") }

func (c *Cluster) ComponentLog(component string) string {
	return filepath.Join(c.dir, "logs", component+".log")
}

// executable becomes each component, by its first argument.
func executable(state string) string { return filepath.Join(state, "bin", gobuild.ControlPlaneFile) }

// Exists reports whether the cluster was created here. A copy in a copied or moved repository
// doesn't count, because it has the original's ports.
func (c *Cluster) Exists() bool {
	made, err := os.ReadFile(c.madeFile())
	return err == nil && string(made) == c.dir
}

// madeFile contains the cluster's folder. It is written when a new cluster is ready, so without it,
// the cluster is unfinished.
func (c *Cluster) madeFile() string { return filepath.Join(c.dir, "made") }

// CheckName returns an error unless the name can also be the name of a folder.
func CheckName(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return problem.New("a cluster can't have the name %q", name).
			ToDo("use lower-case letters, digits and \"-\"; the name may come from WORKSHOP_CLUSTER")
	}
	return nil
}
