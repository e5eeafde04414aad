package kind

// Down: ending the cluster. Nothing is removed that wasn't made here.

import (
	"context"
	"errors"
	"os"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/lock"
)

// Down removes the cluster and all that is in it: kind keeps no data. It leaves one alone that wasn't made here.
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

// remove removes the node's container, if it was made here, and all files but the logs. It returns the number of containers.
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

// Purge removes all clusters that were made in the repository at root, and returns how many there were.
func Purge(ctx context.Context, root string, waiting func(holder string)) (ended int, err error) {
	all, err := All(root)
	for _, c := range all {
		one, downErr := c.Down(ctx, true, waiting)
		ended, err = ended+one, errors.Join(err, downErr)
	}
	return ended, err
}
