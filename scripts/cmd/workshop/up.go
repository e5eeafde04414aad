package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func newUpCommand() *cobra.Command {
	var containers bool
	var image string
	command := &cobra.Command{
		Use:   "up",
		Short: "Create the cluster, or start the parts of it that are down",
		Long: `Up creates a cluster with a real etcd, Kubernetes API server, controller manager and scheduler. Its nodes are
simulated by kwok: Pods are scheduled and become ready, but no container runs. The first use builds these programs
from source. Later, up starts the parts that are down and keeps the data. If all of them are up, it does nothing.

With --kind it creates a kind cluster instead (Kubernetes in Docker). Its one node is a container, and Pods run in it.
That needs docker, and a network to pull the node image, unless --image names one that docker has. While there is a
kind cluster, all other commands use it, unless you add --on kwok.`,
		Example: `  ./scripts/workshop up
  ./scripts/workshop up --kind`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := clusterToUp(containers, image)
			if err != nil {
				return err
			}
			if err := bringUp(command.Context(), c); err != nil {
				return err
			}
			return summarize(command, c)
		},
	}
	defaultImage, _, _ := strings.Cut(kind.DefaultImage, "@") // without its digest
	command.Flags().BoolVar(&containers, "kind", false, "create a kind cluster, whose Pods are containers")
	command.Flags().StringVar(&image, "image", "",
		"with --kind: the node image of a new cluster (default "+defaultImage+")")
	return command
}

// clusterToUp rejects flags of kind clusters on simulated nodes.
func clusterToUp(containers bool, image string) (cluster.Backend, error) {
	c := theCluster()
	if containers && theNodes() == cluster.Simulated {
		return nil, problem.New("--kind asks for containers, --on kwok for none").
			ToDo("leave one out; --on may come from %s", nodesVariable)
	}
	if containers {
		c = kind.New(theRoot(), theName())
	}
	made, ofKind := c.(*kind.Cluster)
	if !ofKind && image != "" {
		return nil, problem.New("--image is for kind clusters").ToDo("add --kind, or leave it out")
	}
	if ofKind {
		made.Image = image
	}
	return c, nil
}

func summarize(command *cobra.Command, c cluster.Backend) error {
	status, err := c.Status(command.Context())
	if err != nil {
		return err
	}
	nodes := fmt.Sprintf("%d nodes", status.Nodes)
	if c.Nodes() == cluster.Containers {
		nodes = "its node is a container of kind"
	}
	command.Printf(`Cluster %q is up: Kubernetes %s, %s.

  ./scripts/workshop kubectl get nodes   the matching kubectl
  eval "$(./scripts/workshop env)"       in each terminal, for kubectl and go
`, c.Name(), status.Version, nodes)
	return nil
}

func newStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show whether the cluster is ready",
		Long:  `Status shows whether the cluster is ready. Its exit code is 0 if it is, 1 if it isn't.`,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c := theCluster()
			status, err := c.Status(command.Context())
			if err != nil {
				return err
			}
			command.Println(ui.Wrap(fmt.Sprintf("Cluster %q %s", c.Name(), statusText(c, status))))
			if !status.Ready {
				return problem.ErrReported
			}
			return nil
		},
	}
}

func statusText(c cluster.Backend, status cluster.Status) string {
	switch {
	case !c.Exists():
		return fmt.Sprintf("doesn't exist. To create it: %s", toUp(c))
	case status.Ready:
		return fmt.Sprintf("is ready: Kubernetes %s, %d of %d nodes ready", status.Version, status.NodesReady, status.Nodes)
	case len(status.Down) == 0:
		return "is not ready yet"
	}
	return fmt.Sprintf("is not ready. Down: %s. To start what is down:\n    %s", strings.Join(status.Down, ", "), toUp(c))
}
