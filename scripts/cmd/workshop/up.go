package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// maxNodes keeps a slip of the finger from filling the machine.
const maxNodes = 1000

func newUpCommand() *cobra.Command {
	var nodes int
	var containers, standIn bool
	var image string
	command := &cobra.Command{
		Use:   "up",
		Short: "Create the cluster, or start the parts of it that are down",
		Long: `Up makes a cluster: etcd, the Kubernetes API server, controller manager and scheduler, all real, and nodes that
are simulated by kwok: Pods are scheduled and become ready, but no container runs. The first use builds these
programs from source. Later, up starts whatever is down, keeps the data, and does nothing if all is well.

With --kind it makes a cluster of kind instead, Kubernetes in Docker: its one node is a container, and Pods run in it. It needs docker,
and a network to pull the node image, unless --image names one that docker has. The samples' images are pulled too, unless --stand-in puts a
small HTTP server of the course's own in their place (from Kubernetes 1.36 on). All other commands use the cluster of kind for as long as there is one, unless told
otherwise by --on kwok.`,
		Example: `  ./scripts/workshop up
  ./scripts/workshop up --kind
  ./scripts/workshop up --kind --image kindest/node:v1.35.0`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if !command.Flags().Changed("nodes") {
				nodes = 0 // as it is
			} else if nodes < 1 || nodes > maxNodes {
				return problem.New("--nodes %d: a cluster has 1 to %d nodes", nodes, maxNodes).
					ToDo("20 are plenty for most; each holds 110 Pods")
			}
			c, err := clusterToUp(containers, image, standIn)
			if err != nil {
				return err
			}
			result, err := bringUp(command.Context(), c, nodes)
			if made, ofKind := c.(*kind.Cluster); err == nil && ofKind && standIn {
				err = ui.New(os.Stderr).While("building the stand-in for nginx", func(*ui.Step) (string, error) {
					return "", made.LoadStandIn(command.Context(), kind.SampleImages()...)
				})
			}
			if err != nil {
				return err
			}
			return summarize(command, c, result)
		},
	}
	defaultImage, _, _ := strings.Cut(kind.DefaultImage, "@") // without its digest
	command.Flags().BoolVar(&containers, "kind", false, "a cluster of kind, whose Pods are containers, as does --on kind")
	command.Flags().StringVar(&image, "image", "", "of kind: the node image of a new cluster (default "+defaultImage+")")
	command.Flags().BoolVar(&standIn, "stand-in", false, "of kind: a small HTTP server takes the place of nginx, and nothing has to be pulled")
	command.Flags().IntVar(&nodes, "nodes", cluster.DefaultNodes, "number of simulated nodes; a cluster that exists keeps its number unless you say one")
	return command
}

// clusterToUp is the cluster that up is about. What is for clusters of kind alone is refused for others.
func clusterToUp(containers bool, image string, standIn bool) (cluster.Backend, error) {
	c := theCluster()
	if containers && theNodes() == cluster.Simulated {
		return nil, problem.New("--kind asks for containers, --on kwok for none").
			ToDo("leave one out; --on may come from %s", nodesVariable)
	}
	if containers {
		c = kind.New(theRoot(), theName())
	}
	made, ofKind := c.(*kind.Cluster)
	switch {
	case ofKind:
		made.Image = image
	case image != "":
		return nil, problem.New("--image is for clusters of kind").ToDo("add --kind")
	case standIn:
		return nil, problem.New("--stand-in is for clusters of kind: on simulated nodes nothing is pulled").
			ToDo("add --kind, or leave it out")
	}
	return c, nil
}

func summarize(command *cobra.Command, c cluster.Backend, result cluster.UpResult) error {
	status, err := c.Status(command.Context())
	if err != nil {
		return err
	}
	did := fmt.Sprintf("%s in %s", result.Outcome, result.Elapsed.Round(100*time.Millisecond))
	if result.Outcome == cluster.AlreadyUp {
		did = "it was up already"
	}
	nodes := fmt.Sprintf("%d nodes", result.Nodes)
	if c.Nodes() == cluster.Containers {
		nodes = "its node is a container of kind"
	}
	command.Printf(`Cluster %q is up: Kubernetes %s, %s (%s).

  ./scripts/workshop kubectl get nodes                   the kubectl that fits
  export KUBECONFIG="$(./scripts/workshop kubeconfig)"   for any other program
`, c.Name(), status.Version, nodes, did)
	return nil
}
