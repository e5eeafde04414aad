package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
)

func newKubeconfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the path of the cluster's kubeconfig",
		Long:    `Kubeconfig prints the path of the administrator's kubeconfig, and nothing else.`,
		Example: `  export KUBECONFIG="$(./scripts/workshop kubeconfig)"`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := existingCluster()
			if err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), c.Kubeconfig())
			return nil
		},
	}
}

func notUp(c cluster.Backend) error {
	return problem.New("cluster %q isn't up", c.Name()).ToDo("%s", toUp(c))
}

func toUp(c cluster.Backend) string {
	if c.Nodes() == cluster.Containers {
		return "./scripts/workshop up --kind"
	}
	return "./scripts/workshop up"
}
