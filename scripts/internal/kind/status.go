package kind

// A look at the cluster, for people, and what tests do to it.

import (
	"context"
	"fmt"

	"example.com/operators/scripts/internal/cluster"
)

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
