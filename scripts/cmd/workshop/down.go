package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func newDownCommand() *cobra.Command {
	var purge bool
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster and keep its data",
		Long: `Down stops exactly the processes that up started. It keeps the cluster's data for the next up. A kind cluster
is deleted, including its data.

With --purge, it deletes all clusters and removes .workshop/ with the programs in it, except your own files: your
progress on the exercises, and the work that reset has kept. It leaves Go's own caches, so that building
the programs again is quick ("go clean -cache -modcache" empties them), and the images that docker has for kind
clusters ("docker image ls" shows them). To get rid of everything, remove the folder.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if purge && (os.Getenv("WORKSHOP_CLUSTER") != "" || theNodes() != "") {
				return problem.New("--purge deletes all clusters, but WORKSHOP_CLUSTER or --on is about one").
					ToDo(`"down" ends that one; to delete all, leave --on out and unset WORKSHOP_CLUSTER and %s`, nodesVariable)
			}
			var summary string
			err := ui.New(os.Stderr).While("ending the cluster", func(step *ui.Step) (_ string, err error) {
				waiting := func(holder string) { step.Update("waiting for %s", holder) }
				if purge {
					summary, err = purgeAll(command.Context(), waiting)
				} else {
					summary, err = endOne(command.Context(), theCluster(), waiting)
				}
				return "", err
			})
			if err == nil {
				command.Println(ui.Wrap(summary))
			}
			return err
		},
	}
	command.Flags().BoolVar(&purge, "purge", false, "remove all clusters, their data, and the built programs")
	return command
}

// purgeAll deletes the clusters on all kinds of nodes, and removes everything except the learner's own
// files. If docker can't delete the kind clusters now, it keeps their records.
func purgeAll(ctx context.Context, waiting func(string)) (summary string, err error) {
	keep := exercises.Own()
	containers, kindErr := kind.Purge(ctx, theRoot(), waiting)
	if kindErr != nil {
		keep = append(keep, "kind")
	}
	ended, kept, err := cluster.Purge(ctx, theRoot(), keep, waiting)
	summary = fmt.Sprintf("%d processes ended, .workshop removed", ended+containers)
	if len(kept) > 0 {
		summary += fmt.Sprintf(", except %s", strings.Join(kept, ", "))
	}
	return summary + ".", errors.Join(kindErr, err)
}

func endOne(ctx context.Context, c cluster.Backend, waiting func(string)) (summary string, err error) {
	ended, err := c.Down(ctx, false, waiting)
	switch {
	case ended == 0:
		summary = "was not up."
	case c.Nodes() == cluster.Containers:
		summary = "of kind is deleted."
	default:
		summary = fmt.Sprintf("is down (%d processes ended). Its data is kept for the next up.", ended)
	}
	return fmt.Sprintf("Cluster %q %s", c.Name(), summary), err
}
