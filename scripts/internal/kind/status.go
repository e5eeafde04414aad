package kind

// A look at the cluster, for people, and what tests do to it.

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	client, err := c.client()
	if err != nil {
		return status, nil
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return status, nil // that it doesn't answer is the answer
	}
	status.Version = version.GitVersion
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return status, nil
	}
	for _, node := range nodes.Items {
		status.Nodes++
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				status.NodesReady++
			}
		}
	}
	status.Ready = status.Nodes > 0 && status.NodesReady == status.Nodes
	return status, nil
}

// Kill ends one component at once, as a crash would. The kubelet starts it again.
func (c *Cluster) Kill(ctx context.Context, component string) error {
	if runs, err := c.Serves(ctx); err != nil || !runs {
		return fmt.Errorf("the node of cluster %q doesn't run: %w", c.name, err)
	}
	_, err := docker(ctx, "exec", c.Node(), "pkill", "-KILL", "-x", component)
	return err
}
