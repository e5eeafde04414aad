// Package kind runs a cluster whose node is a container that runs containers, through the command
// line of kind (Kubernetes in Docker), which it builds when it needs it. It creates, deletes and
// inspects its own clusters, loads images onto them, and leaves all others alone. Like package
// cluster, it never reads ~/.kube/config or $KUBECONFIG.
package kind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/operators/scripts/internal/cluster"
)

// DefaultImage is the node image of the pinned kind, and so decides the version of Kubernetes.
const DefaultImage = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"

// Cluster is one cluster, which need not exist yet.
type Cluster struct {
	// Image is the node image of a new cluster; "" means DefaultImage.
	Image string

	name  string
	state string // .workshop: holds the lock, and all clusters
	dir   string // all files of this cluster
}

var _ cluster.Backend = (*Cluster)(nil)

func New(root, name string) *Cluster {
	state := filepath.Join(root, ".workshop")
	return &Cluster{name: name, state: state, dir: filepath.Join(folder(state), name)}
}

func folder(state string) string { return filepath.Join(state, "kind") }

func (c *Cluster) Name() string { return c.name }

// KindName is kind's name for it. All of a machine's clusters share these names, so this one has
// the course's prefix.
func (c *Cluster) KindName() string { return "operators-" + c.name }

func (c *Cluster) Node() string { return c.KindName() + "-control-plane" }

func (c *Cluster) Nodes() cluster.Nodes { return cluster.Containers }

// Kubeconfig is the path of the administrator's kubeconfig, which works anywhere you copy it.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// AuditLog is the path of the API server's audit log. The node writes it into a mounted folder.
func (c *Cluster) AuditLog() string { return filepath.Join(c.dir, "audit", "audit.log") }

func (c *Cluster) auditPolicy() string { return filepath.Join(c.dir, "audit-policy.yaml") }

// logs is the folder with kind's output while it created the cluster and, if that failed, with the
// node's logs. It stays when the cluster is deleted.
func (c *Cluster) logs() string { return filepath.Join(c.state, "kind-"+c.name+"-logs") }

// madeFile has the ID of the node's container. It is empty while kind creates the cluster.
func (c *Cluster) madeFile() string { return filepath.Join(c.dir, "made") }

// made returns the ID of the cluster's container, and whether its creation has begun.
func (c *Cluster) made() (id string, begun bool) {
	content, err := os.ReadFile(c.madeFile())
	return string(content), err == nil
}

// Exists reports whether the cluster was created here. Status says whether its container still
// exists.
func (c *Cluster) Exists() bool {
	id, _ := c.made()
	return id != ""
}

// Begun reports whether the cluster's creation has begun here, finished or not.
func (c *Cluster) Begun() bool {
	_, begun := c.made()
	return begun
}

func (c *Cluster) Serves(ctx context.Context) (bool, error) {
	if !c.Exists() {
		return false, nil
	}
	node, ours, err := c.find(ctx)
	return ours && node.State.Running, err
}

// find looks for the container with the node's name, and reports whether this package created it:
// by its ID or, if that was never recorded, by our folder that is mounted into it.
func (c *Cluster) find(ctx context.Context) (node container, ours bool, err error) {
	node, err = inspect(ctx, c.Node())
	if err != nil || node.ID == "" {
		return node, false, err
	}
	id, begun := c.made()
	if begun && id == "" {
		return node, node.mounts(filepath.Dir(c.AuditLog())), nil
	}
	return node, node.ID == id, nil
}

// Status inspects the cluster. It changes nothing and waits for nothing.
func (c *Cluster) Status(ctx context.Context) (cluster.Status, error) {
	if !c.Exists() {
		return cluster.Status{}, nil
	}
	status := cluster.Status{Exists: true}
	runs, err := c.Serves(ctx)
	status.Components = []cluster.ComponentStatus{{Name: c.Node(), Running: runs}}
	if err != nil || !runs {
		return status, err
	}
	status.Ready = status.Ask(ctx, c) && status.Nodes > 0 && status.NodesReady == status.Nodes
	return status, nil
}

// Kill kills one component, like a crash. The kubelet restarts it.
func (c *Cluster) Kill(ctx context.Context, component string) error {
	runs, err := c.Serves(ctx)
	if err != nil {
		return err
	}
	if !runs {
		return fmt.Errorf("the node of cluster %q doesn't run", c.name)
	}
	// The kernel keeps 15 characters of a program's name, so pkill compares its command line.
	_, err = docker(ctx, "exec", c.Node(), "pkill", "-KILL", "-f", "^"+component+" ")
	return err
}
