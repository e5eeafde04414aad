// Package kind runs a cluster whose node is a container that runs containers, by kind's library: Kubernetes in Docker. It makes,
// ends and looks at its own clusters, brings images to them, and leaves everybody else's alone. Like package cluster it never
// looks at ~/.kube/config or $KUBECONFIG.
package kind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	kind "sigs.k8s.io/kind/pkg/cluster"

	"example.com/operators/scripts/internal/cluster"
)

// DefaultImage is the node image of the pinned kind. It says which Kubernetes the cluster has.
const DefaultImage = defaults.Image

// Cluster is one cluster, which need not exist yet. It is a cluster.Backend.
type Cluster struct {
	// Image is the node image of a new cluster; "": DefaultImage.
	Image string

	name  string
	state string // .workshop: holds the lock, and all clusters
	dir   string // all that belongs to this cluster, but for its container
}

var _ cluster.Backend = (*Cluster)(nil)

func New(root, name string) *Cluster {
	state := filepath.Join(root, ".workshop")
	return &Cluster{name: name, state: state, dir: filepath.Join(folder(state), name)}
}

func folder(state string) string { return filepath.Join(state, "kind") }

func (c *Cluster) Name() string { return c.name }

// KindName is what kind calls it. All of a machine's clusters share these names, so this one begins with the course's.
func (c *Cluster) KindName() string { return "operators-" + c.name }

func (c *Cluster) Node() string { return c.KindName() + "-control-plane" }

func (c *Cluster) Nodes() cluster.Nodes { return cluster.Containers }

// Kubeconfig is the path of the administrator's kubeconfig. The file stands alone: copy it and it works.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// AuditLog is the path of the API server's audit log, as that of a cluster.Cluster. The node writes it into a mounted folder.
func (c *Cluster) AuditLog() string { return filepath.Join(c.dir, "audit", "audit.log") }

// logs is the folder of what kind said while it made the cluster, and if that failed, of the node's own logs. It outlives the cluster.
func (c *Cluster) logs() string { return filepath.Join(c.state, "kind-"+c.name+"-logs") }

// madeFile holds the id of the node's container, once kind has made it. Until then it is empty: begun and not finished.
func (c *Cluster) madeFile() string { return filepath.Join(c.dir, "made") }

// made is the id of the container that this cluster was made as; begun reports whether it was begun, at least.
func (c *Cluster) made() (id string, begun bool) {
	content, err := os.ReadFile(c.madeFile())
	return string(content), err == nil
}

// Exists reports whether the cluster was made here. Whether its container is still there is for Status to say.
func (c *Cluster) Exists() bool {
	id, _ := c.made()
	return id != ""
}

// Begun reports whether it was made here, or begun and not finished.
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

// find looks for the container that has the node's name, and reports whether it was made here: by its id, or, if that was never noted, by our folder
// that is mounted into it.
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

func (c *Cluster) provider(log logger) *kind.Provider {
	return kind.NewProvider(kind.ProviderWithDocker(), kind.ProviderWithLogger(log))
}

// Status looks at the cluster. Nothing is changed and nothing waited for.
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

// Kill ends one component at once, as a crash would. The kubelet starts it again.
func (c *Cluster) Kill(ctx context.Context, component string) error {
	runs, err := c.Serves(ctx)
	if err != nil {
		return err
	}
	if !runs {
		return fmt.Errorf("the node of cluster %q doesn't run", c.name)
	}
	// The kernel keeps 15 characters of a program's name, so its command line is what is compared.
	_, err = docker(ctx, "exec", c.Node(), "pkill", "-KILL", "-f", "^"+component+" ")
	return err
}
