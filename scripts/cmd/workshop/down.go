package main

// workshop down: end the cluster, or with --purge everything that the workshop has made.

import (
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/ui"
)

func newDownCommand() *cobra.Command {
	var purge bool
	command := &cobra.Command{
		Use:   "down",
		Short: "End the cluster; its data stays",
		Long: `Down ends exactly the processes that up started. The cluster's data stays, and up goes on with it.

With --purge nothing stays: all clusters are ended and .workshop/ is removed, with the programs in it. Only Go's own
caches are left, so that building them again is quick; "go clean -cache -modcache" empties those.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := theCluster()
			if err != nil {
				return err
			}
			root, err := findRoot()
			if err != nil {
				return err
			}
			step := ui.New(os.Stderr).Start("ending the cluster")
			waiting := func(holder string) { step.Update("waiting for %s", holder) }
			var ended int
			if purge {
				ended, err = cluster.Purge(command.Context(), root, waiting)
			} else {
				ended, err = c.Down(command.Context(), false, waiting)
			}
			if err != nil {
				step.Fail()
				return err
			}
			step.Drop()
			report(command, c, purge, ended)
			return nil
		},
	}
	command.Flags().BoolVar(&purge, "purge", false, "remove everything: all clusters, their data, and the built programs")
	return command
}

func report(command *cobra.Command, c *cluster.Cluster, purge bool, ended int) {
	switch {
	case purge:
		command.Printf("%d processes ended, .workshop removed.\n", ended)
	case ended == 0:
		command.Printf("Cluster %q was not up.\n", c.Name)
	default:
		command.Printf("Cluster %q is down (%d processes ended). Its data is kept for the next up.\n", c.Name, ended)
	}
}
