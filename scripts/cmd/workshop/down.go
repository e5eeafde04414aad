package main

// workshop down: end the cluster, or with --purge all that the workshop has made.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/pack"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/runs"
	"example.com/operators/scripts/internal/ui"
)

func newDownCommand() *cobra.Command {
	var purge, progress bool
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster and keep its data",
		Long: `Down ends exactly the processes that up started. The cluster's data stays, and up goes on with it. A cluster of kind is
deleted, and its data with it.

With --purge, all clusters are ended and .workshop/ is removed, with the programs in it, but for what is yours: your
progress on the exercises, and the work that reset and catch-up have kept. With --purge --progress nothing stays. Only Go's own
caches are left, so that building the programs again is quick ("go clean -cache -modcache" empties those), and the images that docker
was given for clusters of kind ("docker image ls" shows them). In a folder that was unpacked from an archive ("pack"), what that has brought stays in any case: remove the folder to be rid of it.`,
		Args: func(command *cobra.Command, args []string) error {
			if progress && !purge {
				return errors.New("--progress goes with --purge")
			}
			return cobra.NoArgs(command, args)
		},
		RunE: func(command *cobra.Command, _ []string) error {
			root, c, err := theWorkspace()
			if err != nil {
				return err
			}
			if name := os.Getenv("WORKSHOP_CLUSTER"); purge && name != "" {
				return &problem.Problem{
					What: fmt.Sprintf("--purge ends all clusters, and WORKSHOP_CLUSTER names one, %q", name),
					Mend: `"down" ends that one; to be rid of all, unset WORKSHOP_CLUSTER first`,
				}
			}
			if on := os.Getenv(nodesVariable); purge && on != "" {
				return &problem.Problem{
					What: fmt.Sprintf("--purge ends all clusters, and --on %s is about some", on),
					Mend: `"down" ends one; to be rid of all, leave --on out, and unset ` + nodesVariable,
				}
			}
			if err := runs.Sweep(command.Context(), root); err != nil {
				return err
			}
			step := ui.New(os.Stderr).Start("ending the cluster")
			waiting := func(holder string) { step.Update("waiting for %s", holder) }
			var ended int
			var kept []string
			switch {
			case progress:
				ended, kept, err = purgeAll(command.Context(), root, pack.Brought(root), waiting)
			case purge:
				ended, kept, err = purgeAll(command.Context(), root, append(exercises.Own(), pack.Brought(root)...), waiting)
			default:
				ended, err = c.Down(command.Context(), false, waiting)
			}
			if err != nil {
				step.Fail()
				return err
			}
			step.Drop()
			if purge {
				command.Print(purged(ended, kept, pack.Brought(root)))
			} else {
				command.Print(endedOne(c, ended))
			}
			return nil
		},
	}
	command.Flags().BoolVar(&purge, "purge", false, "remove all clusters, their data, and the built programs")
	command.Flags().BoolVar(&progress, "progress", false, "with --purge: your progress on the exercises and your kept solutions as well")
	return command
}

// purgeAll ends the clusters on all kinds of nodes. What is known of clusters of kind is kept if docker can't end them now.
func purgeAll(ctx context.Context, root string, keep []string, waiting func(string)) (ended int, kept []string, err error) {
	containers, kindErr := kind.Purge(ctx, root, waiting)
	if kindErr != nil {
		keep = append(keep, "kind")
	}
	ended, kept, err = cluster.Purge(ctx, root, keep, waiting)
	return ended + containers, kept, errors.Join(kindErr, err)
}

// purged says what a purge has left: what is the learner's, and what an archive has brought.
func purged(ended int, kept, brought []string) string {
	left := "removed"
	if len(brought) > 0 {
		left = "emptied but for what the archive has brought"
	}
	yours := slices.DeleteFunc(kept, func(name string) bool { return slices.Contains(brought, name) })
	if len(yours) == 0 {
		return fmt.Sprintf("%d processes ended, .workshop %s.\n", ended, left)
	}
	return fmt.Sprintf("%d processes ended, .workshop %s. What is yours is left: %s (--progress removes that, too).\n",
		ended, left, strings.Join(yours, ", "))
}

func endedOne(c cluster.Backend, ended int) string {
	switch {
	case ended == 0:
		return fmt.Sprintf("Cluster %q was not up.\n", c.Name())
	case c.Nodes() == cluster.Containers:
		return fmt.Sprintf("Cluster %q of kind is deleted.\n", c.Name())
	}
	return fmt.Sprintf("Cluster %q is down (%d processes ended). Its data is kept for the next up.\n", c.Name(), ended)
}
