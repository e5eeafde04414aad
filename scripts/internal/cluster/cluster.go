// Package cluster runs a real Kubernetes control plane with simulated nodes on this machine, on loopback alone. kwokctl
// starts the programs; this package decides when, heals what it finds broken, and ends exactly what it started. It
// leaves building the programs to package controlplane, and never looks at ~/.kube/config or $KUBECONFIG.
package cluster

import (
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"example.com/operators/scripts/internal/problem"
)

// DefaultName is the cluster that the workshop uses unless told otherwise.
const DefaultName = "workshop"

// DefaultNodes is how many simulated nodes a new cluster gets. A node holds 110 Pods.
const DefaultNodes = 20

// Cluster is one cluster, which need not exist yet. Several values, in several processes, may stand for the same one.
type Cluster struct {
	name  string
	state string // .workshop: holds the lock, and all clusters
	bin   string // the programs, by their usual names
	dir   string // all that belongs to this cluster, and kwokctl's HOME
}

// New returns the cluster of that name in the repository at root, run by the programs in the folder bin.
func New(root, bin, name string) *Cluster {
	state := filepath.Join(resolve(root), ".workshop")
	return &Cluster{name: name, state: state, bin: resolve(bin), dir: filepath.Join(state, "clusters", name)}
}

// resolve gives a path the one spelling that it has without links, so that it can be recognised in a process's arguments.
func resolve(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return path
}

func (c *Cluster) Name() string { return c.name }

// Kubeconfig is the path of the administrator's kubeconfig. The file stands alone: copy it and it works.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// AuditLog is the path of the API server's audit log: one JSON object (audit.k8s.io/v1 Event) a line, at level Metadata,
// written when a request is answered and, for a watch, also when it starts. At 100 MB it is moved aside.
func (c *Cluster) AuditLog() string { return filepath.Join(c.kwok(), "logs", "audit.log") }

func (c *Cluster) ComponentLog(component string) string {
	return filepath.Join(c.kwok(), "logs", component+".log")
}

// Exists reports whether the cluster was made here, be it up or down. One that was copied or moved along with the repository
// doesn't count: kwokctl's record names the old place in every argument, and starting that would run the other cluster.
func (c *Cluster) Exists() bool {
	made, err := os.ReadFile(c.madeFile())
	return err == nil && string(made) == c.dir
}

// kwok is the folder where kwokctl keeps the cluster: its choice, below HOME.
func (c *Cluster) kwok() string { return filepath.Join(c.dir, ".kwok", "clusters", c.name) }

func (c *Cluster) kwokLog() string { return filepath.Join(c.dir, "kwokctl.log") }

// madeFile is written once a new cluster has been ready, and says where. Without it, what there is was never finished.
func (c *Cluster) madeFile() string { return filepath.Join(c.dir, "made") }

// CheckName says whether a cluster can have that name. It becomes the name of a folder, among others.
func CheckName(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return problem.New("a cluster can't have the name %q", name).
			ToDo("use lower-case letters, digits and \"-\"; the name may come from WORKSHOP_CLUSTER")
	}
	return nil
}

// CheckPath says whether kwokctl can work below a path. It takes paths of binaries for URLs (hence no "#", "%" or control
// characters) and paths of configurations for lists (no "," or quotes), and looks for kubectl in PATH (no ":").
func CheckPath(path string) error {
	const awkward = "#%,:\"\t\n"
	if i := strings.IndexAny(path, awkward); i >= 0 {
		return problem.New("the path %s contains %q, which the cluster's tools can't handle", path, path[i]).
			ToDo("move the repository to a folder without it; spaces and letters of any language are fine")
	}
	return nil
}
