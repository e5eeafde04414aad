package main

// workshop up: make the cluster or start what of it is down, and say how to use it.

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
)

// maxNodes keeps a slip of the finger from filling the machine.
const maxNodes = 1000

func newUpCommand() *cobra.Command {
	var nodes int
	command := &cobra.Command{
		Use:   "up",
		Short: "Make the cluster, or start what of it is down",
		Long: `Up makes a cluster: etcd, the Kubernetes API server, controller manager and scheduler, all real, and nodes that
are simulated by kwok: Pods are scheduled and become ready, but no container runs. The first use builds these
programs from source. Later, up starts whatever is down, keeps the data, and does nothing if all is well.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if command.Flags().Changed("nodes") && (nodes < 1 || nodes > maxNodes) {
				return &problem.Problem{
					What: fmt.Sprintf("--nodes %d: a cluster has 1 to %d nodes", nodes, maxNodes),
					Mend: "20 are plenty for most; each holds 110 Pods",
				}
			}
			if !command.Flags().Changed("nodes") {
				nodes = 0 // as it is
			}
			c, result, err := bringUp(command.Context(), nodes)
			if err != nil {
				return err
			}
			return summarize(command, c, result)
		},
	}
	command.Flags().IntVar(&nodes, "nodes", cluster.DefaultNodes, "number of simulated nodes; a cluster that exists keeps its number unless you say one")
	return command
}

func summarize(command *cobra.Command, c *cluster.Cluster, result cluster.UpResult) error {
	status, err := c.Status(command.Context())
	if err != nil {
		return err
	}
	did := fmt.Sprintf("%s in %s", result.Outcome, result.Elapsed.Round(100*time.Millisecond))
	if result.Outcome == cluster.AlreadyUp {
		did = "it was up already"
	}
	command.Printf(`Cluster %q is up: Kubernetes %s, %d nodes (%s).

  ./scripts/workshop kubectl get nodes                   the kubectl that fits
  export KUBECONFIG="$(./scripts/workshop kubeconfig)"   for any other program
`, c.Name, status.Version, result.Nodes, did)
	return nil
}
