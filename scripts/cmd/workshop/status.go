package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
)

func newStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the cluster's programs, memory and nodes",
		Long:  `Status shows the cluster's programs, memory and nodes. Its exit code is 0 if the cluster is ready, 1 if it isn't.`,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c := theCluster()
			status, err := c.Status(command.Context())
			if err != nil {
				return err
			}
			if err := printStatus(command, c, status); err != nil {
				return err
			}
			if !status.Ready {
				return errReported
			}
			return nil
		},
	}
}

func printStatus(command *cobra.Command, c cluster.Backend, status cluster.Status) error {
	if !status.Exists {
		command.Printf("There is no cluster %q. \"%s\" makes it.\n", c.Name(), toUp(c))
		return nil
	}
	state := fmt.Sprintf("is not ready; \"%s\" starts what is down", toUp(c))
	if status.Ready {
		state = fmt.Sprintf("is ready: Kubernetes %s, %d of %d nodes ready", status.Version, status.NodesReady, status.Nodes)
		if rss := status.RSS(); rss > 0 {
			state += fmt.Sprintf(", %d MB", megabytes(rss))
		}
	}
	command.Printf("Cluster %q %s\n\n", c.Name(), state)

	if c.Nodes() == cluster.Containers {
		command.Printf("Its node is docker's container %s.\n", status.Components[0].Name)
		return nil
	}
	table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tSTATE\tPID\tMEMORY\tADDRESS")
	for _, component := range status.Components {
		if component.Running {
			fmt.Fprintf(table, "%s\trunning\t%d\t%d MB\t127.0.0.1:%d\n", component.Name, component.PID, megabytes(component.RSS), component.Port)
		} else {
			fmt.Fprintf(table, "%s\tdown\t-\t-\t-\n", component.Name)
		}
	}
	return table.Flush()
}

func megabytes(bytes uint64) uint64 { return bytes / 1_000_000 }
