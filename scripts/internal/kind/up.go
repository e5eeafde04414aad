package kind

// Bringing a cluster up and down.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/lock"
	"example.com/operators/scripts/internal/problem"
)

// readyTimeout is how long a node may take to be Ready. With its image pulled, it usually takes 15
// seconds.
const readyTimeout = 5 * time.Minute

func (c *Cluster) image() string { return cmp.Or(c.Image, DefaultImage) }

// Up creates the cluster if there is none, starts its container if that is stopped, and returns
// when the cluster can be used. After an interrupt, the next call cleans up and continues.
func (c *Cluster) Up(ctx context.Context, options cluster.UpOptions) (cluster.UpResult, error) {
	start := time.Now()
	if options.Progress == nil {
		options.Progress = func(string) {}
	}
	if options.Nodes > 1 {
		return cluster.UpResult{}, problem.New("a cluster of kind has one node here").ToDo("leave --nodes out")
	}
	if err := errors.Join(cluster.CheckName(c.name), cluster.CheckPath(c.dir)); err != nil {
		return cluster.UpResult{}, err
	}
	release, err := lock.Acquire(ctx, c.state, func(holder string) { options.Progress("waiting for " + holder) })
	if err != nil {
		return cluster.UpResult{}, err
	}
	defer release()
	outcome, err := c.bringUp(ctx, options.Progress)
	if err != nil {
		return cluster.UpResult{}, err
	}
	options.Progress("waiting for the API server")
	return cluster.UpResult{Outcome: outcome, Nodes: 1, Elapsed: time.Since(start)}, c.waitReady(ctx)
}

func (c *Cluster) bringUp(ctx context.Context, progress func(string)) (cluster.Outcome, error) {
	if err := checkEngine(ctx); err != nil {
		return "", err
	}
	node, ours, err := c.find(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case node.ID != "" && !ours:
		return "", problem.New("there is a kind cluster named %q, which wasn't created in this folder", c.KindName()).
			ToDo("choose another name (WORKSHOP_CLUSTER=mine), or delete that cluster: docker rm -f -v %s", c.Node())
	case ours && c.Exists() && c.Image != "" && qualified(node.Config.Image) != qualified(c.Image):
		return "", problem.New("cluster %q was created with the node image %s", c.name, node.Config.Image).
			ToDo("leave --image out, or create it again: ./scripts/workshop down, then the same command")
	case node.ID == "" || !c.Exists():
		return cluster.Created, c.create(ctx, progress)
	case !node.State.Running: // after a reboot, for example
		progress("starting the node")
		_, err := docker(ctx, "start", c.Node())
		return cluster.Started, err
	default:
		return cluster.AlreadyUp, nil
	}
}

// waitReady waits until a first `kubectl create` would work, and a Pod would start.
func (c *Cluster) waitReady(ctx context.Context) error {
	client, err := cluster.Client(c)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		_, noAccount := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		if last = errors.Join(cluster.IsReady(ctx, client), noAccount); last != nil {
			return false, nil
		}
		var ready, all int
		if all, ready, last = cluster.CountNodes(ctx, client); last == nil && (all == 0 || ready < all) {
			last = fmt.Errorf("of %d nodes, %d are ready", all, ready)
		}
		return last == nil, nil
	})
	if err != nil && ctx.Err() == nil {
		return problem.New("the node of cluster %q runs, but it isn't ready after %s", c.name, readyTimeout).
			ToDo(`"./scripts/workshop down" and "up --kind" create it again; "docker logs %s" shows more`, c.Node()).
			Because(last)
	}
	return err
}

// Down removes the cluster with all its data, if it was created here.
func (c *Cluster) Down(ctx context.Context, _ bool, waiting func(holder string)) (ended int, err error) {
	if err := cluster.CheckName(c.name); err != nil {
		return 0, err // it names a folder that is removed
	}
	release, err := lock.Acquire(ctx, c.state, waiting)
	if err != nil {
		return 0, err
	}
	defer release()
	if !c.Begun() {
		return 0, nil
	}
	return c.remove(ctx)
}

// remove removes the node's container, if it was created here, and all files but the logs. It
// returns the number of containers.
func (c *Cluster) remove(ctx context.Context) (ended int, err error) {
	if ended, err = c.removeNode(ctx); err != nil {
		return ended, err
	}
	return ended, os.RemoveAll(c.dir)
}

func (c *Cluster) removeNode(ctx context.Context) (ended int, err error) {
	node, ours, err := c.find(ctx)
	if err != nil || !ours {
		return 0, err
	}
	_, err = docker(ctx, "rm", "--force", "--volumes", node.ID)
	if isGone(err) {
		return 0, nil
	}
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
		if c := New(root, entry.Name()); c.Begun() {
			one, downErr := c.Down(ctx, true, waiting)
			ended, err = ended+one, errors.Join(err, downErr)
		}
	}
	return ended, err
}
