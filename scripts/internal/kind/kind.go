// Package kind runs a cluster whose node is a container that runs containers, through the command
// line of kind (Kubernetes in Docker), which it builds when it needs it. It knows its own clusters by
// their names and a folder in .workshop for each, and leaves all others alone. Like package cluster,
// it never reads ~/.kube/config or $KUBECONFIG.
package kind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// DefaultImage is the node image of the pinned kind, and so decides the version of Kubernetes.
const DefaultImage = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"

// readyTimeout is how long a node may take to be Ready. With its image pulled, it usually takes 15
// seconds.
const readyTimeout = 5 * time.Minute

// Cluster is one cluster, which need not exist yet.
type Cluster struct {
	// Image is the node image of a new cluster; "" means DefaultImage.
	Image string

	name  string
	state string // .workshop: holds the lock, and all clusters
	dir   string // all files of this cluster. It exists from the moment when its creation begins
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

// Kubeconfig is the path of the administrator's kubeconfig, which works anywhere you copy it. kind
// writes it when the cluster is complete.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// AuditLog is the path of the API server's audit log. The node writes it into a mounted folder.
func (c *Cluster) AuditLog() string { return filepath.Join(c.dir, "audit", "audit.log") }

// Exists reports whether the cluster was created here. Status says whether its container still
// exists.
func (c *Cluster) Exists() bool {
	_, err := os.Stat(c.Kubeconfig())
	return err == nil
}

// Begun reports whether the cluster's creation has begun here, finished or not.
func (c *Cluster) Begun() bool {
	_, err := os.Stat(c.dir)
	return err == nil
}

func (c *Cluster) Serves(ctx context.Context) (bool, error) {
	if !c.Exists() {
		return false, nil
	}
	_, running, err := inspect(ctx, c.Node())
	return running, err
}

// Status inspects the cluster. It changes nothing and waits for nothing.
func (c *Cluster) Status(ctx context.Context) (cluster.Status, error) {
	if !c.Exists() {
		return cluster.Status{}, nil
	}
	var status cluster.Status
	if runs, err := c.Serves(ctx); err != nil || !runs {
		status.Down = []string{c.Node()}
		return status, err
	}
	status.Ready = status.Ask(ctx, c) && status.Nodes > 0 && status.NodesReady == status.Nodes
	return status, nil
}

// Up creates the cluster if there is none, starts its container if that is stopped, and returns
// when the cluster can be used. After an interrupt, the next call cleans up and continues.
func (c *Cluster) Up(ctx context.Context, progress func(doing string)) (cluster.Outcome, error) {
	release, err := process.Lock(ctx, c.state, func(holder string) { progress("waiting for " + holder) })
	if err != nil {
		return "", err
	}
	defer release()
	outcome, err := c.bringUp(ctx, progress)
	if err != nil {
		return "", err
	}
	progress("waiting for the API server")
	return outcome, c.waitReady(ctx)
}

func (c *Cluster) bringUp(ctx context.Context, progress func(string)) (cluster.Outcome, error) {
	found, running, err := inspect(ctx, c.Node())
	switch {
	case err != nil:
		return "", err
	case found && !c.Begun():
		return "", problem.New("there is a kind cluster named %q, which wasn't created in this folder", c.KindName()).
			ToDo("choose another name (WORKSHOP_CLUSTER=mine), or delete that cluster: docker rm -f -v %s", c.Node())
	case !found || !c.Exists():
		return cluster.Created, c.create(ctx, progress)
	case !running: // after a reboot, for example
		progress("starting the node")
		_, err := docker(ctx, "start", c.Node())
		return cluster.Started, err
	default:
		return cluster.AlreadyUp, nil
	}
}

// waitReady waits until a first `kubectl create` would work, and a Pod would start.
func (c *Cluster) waitReady(ctx context.Context) error {
	err := cluster.Await(ctx, c, readyTimeout, cluster.IsWhole)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return problem.New("the node of cluster %q runs, but it isn't ready", c.name).
		ToDo(`"./scripts/workshop down" and "up --kind" create it again; "docker logs %s" shows more`, c.Node()).
		Because(err)
}

// Down removes the cluster with all its data, if it was created here.
func (c *Cluster) Down(ctx context.Context, _ bool, waiting func(holder string)) (ended int, err error) {
	release, err := process.Lock(ctx, c.state, waiting)
	if err != nil {
		return 0, err
	}
	defer release()
	if !c.Begun() {
		return 0, nil
	}
	if ended, err = c.removeNode(ctx); err != nil {
		return ended, err
	}
	return ended, os.RemoveAll(c.dir)
}

// removeNode removes the node's container, if there is one, and returns the number of containers.
func (c *Cluster) removeNode(ctx context.Context) (ended int, err error) {
	found, _, err := inspect(ctx, c.Node())
	if err != nil || !found {
		return 0, err
	}
	_, err = docker(ctx, "rm", "--force", "--volumes", c.Node())
	return 1, err
}

// Purge removes all clusters that were created in the repository at root, and returns their number.
func Purge(ctx context.Context, root string, waiting func(holder string)) (ended int, err error) {
	entries, err := os.ReadDir(folder(filepath.Join(root, ".workshop")))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list kind's clusters: %w", err)
	}
	err = nil
	for _, entry := range entries {
		one, downErr := New(root, entry.Name()).Down(ctx, true, waiting)
		ended, err = ended+one, errors.Join(err, downErr)
	}
	return ended, err
}
